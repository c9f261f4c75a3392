// A desk with forms: jobs are opened in their place, forms follow the version that the page shows, and are loaded again
// when the state of the drawer asks for others.
import { dress } from "./pad.js";
import { restore } from "./draft.js";

const subject = () => document.getElementById("subject");

function follow(version) {
  if (!version) return;
  for (const field of document.querySelectorAll('form[data-command] input[type="hidden"][name="version"]')) field.value = version;
}

function first(root) {
  const field = root.querySelector("input:not([type=hidden]), select, textarea, button.go");
  field?.focus();
  field?.scrollIntoView({ block: "nearest" });
}

export function till(desk) {
  let work = subject()?.dataset.work;
  document.body.addEventListener("htmx:afterSwap", async (event) => {
    const swapped = event.detail.target;
    if (swapped.id === "part") {
      follow(subject()?.dataset.version);
      const now = subject()?.dataset.work;
      if (now !== work) {
        work = now;
        document.getElementById("job")?.replaceChildren();
        document.body.dispatchEvent(new Event("turned"));
      }
    } else if (swapped.id === "job" || swapped.id === "forms") {
      await restore(swapped);
      dress(swapped);
      if (swapped.id === "job") first(swapped);
    }
  });
  document.body.addEventListener("placed", (event) => {
    follow(event.detail.dataset.version);
    dress(document);
  });
  // A job that stands open already is gone to, not opened once more.
  desk.addEventListener("htmx:beforeRequest", (event) => {
    const name = event.target.dataset?.job;
    const open = name && document.querySelector(`#forms [data-part="${CSS.escape(name)}"]`);
    if (!open) return;
    event.preventDefault();
    first(open);
  });
}
