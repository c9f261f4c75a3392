// What was typed for a count stays on the terminal until it is recorded: an interruption costs no second count. It is
// kept for the person who has typed it, and for nobody else, and goes with the session.
import { drop, keep, kept, names } from "./kept.js";

const KEPT = "cukassza.draft";
const person = () => document.querySelector('meta[name="person"]')?.content || "";
const place = (path) => `${KEPT}.${person()}.${path}`;
const path = (form) => form.getAttribute("action") || location.pathname;
const counts = (form) => form.querySelector("[data-counted]") !== null;
// The same form serves several boxes: what it is of belongs to its name.
const NEVER = new Set(["csrfmiddlewaretoken", "key", "version", "approval"]);

const about = (form) => [...form.querySelectorAll('input[type="hidden"]')].filter((one) => !NEVER.has(one.name)).map((one) => one.value).join(".");

export async function restore(root) {
  for (const form of root.querySelectorAll("form[data-command]")) {
    if (!counts(form)) continue;
    const found = await kept(place(path(form)));
    if (!found || found.about !== about(form)) continue;
    for (const [name, value] of Object.entries(found.typed)) {
      const field = form.elements.namedItem(name);
      if (field && !field.value) field.value = value;
    }
  }
}

export function forget(address) {
  drop(place(address));
}

const forgetAll = () => names(`${KEPT}.`).forEach(drop);

export function drafts() {
  // Who signs out leaves no figure behind: the next person at the terminal may have to count without knowing.
  document.addEventListener("submit", (event) => {
    if (event.target.getAttribute("action") === "/console/sign-out") forgetAll();
  });
  // Nor does a session that has ended by itself.
  if (["/console/sign-in", "/console/terminal"].includes(location.pathname)) forgetAll();
  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-command]");
    if (!form || !counts(form)) return;
    const typed = {};
    for (const field of form.querySelectorAll("input:not([type=hidden])")) {
      if (field.value) typed[field.name] = field.value;
    }
    keep(place(path(form)), { about: about(form), typed });
  });
}
