// What was typed for a count stays on the terminal until it is recorded: an interruption costs no second count. It is
// kept for the person who has typed it, and for nobody else.
const KEPT = "cukassza.draft";
const person = () => document.querySelector('meta[name="person"]')?.content || "";
const place = (path) => `${KEPT}.${person()}.${path}`;
const path = (form) => form.getAttribute("action") || location.pathname;
const kept = (form) => form.querySelector("[data-counted]") !== null;
// The same form serves several boxes: what it is of belongs to its name.
const NEVER = new Set(["csrfmiddlewaretoken", "key", "version", "approval"]);

const about = (form) => [...form.querySelectorAll('input[type="hidden"]')].filter((one) => !NEVER.has(one.name)).map((one) => one.value).join(".");

export function restore(root) {
  for (const form of root.querySelectorAll("form[data-command]")) {
    if (!kept(form)) continue;
    const found = JSON.parse(sessionStorage.getItem(place(path(form))) || "null");
    if (!found || found.about !== about(form)) continue;
    for (const [name, value] of Object.entries(found.typed)) {
      const field = form.elements.namedItem(name);
      if (field && !field.value) field.value = value;
    }
  }
}

export function forget(address) {
  sessionStorage.removeItem(place(address));
}

export function drafts() {
  // Who signs out leaves no figure behind: the next person at the terminal may have to count without knowing.
  document.addEventListener("submit", (event) => {
    if (event.target.getAttribute("action") !== "/console/sign-out") return;
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(`${KEPT}.`)) sessionStorage.removeItem(name);
  });
  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-command]");
    if (!form || !kept(form)) return;
    const typed = {};
    for (const field of form.querySelectorAll("input:not([type=hidden])")) {
      if (field.value) typed[field.name] = field.value;
    }
    sessionStorage.setItem(place(path(form)), JSON.stringify({ about: about(form), typed }));
  });
}
