// What every screen does by itself: forms that are sent once, streams, keys.
import { live } from "./live.js";
import { dock } from "./dock.js";
import { resumed, forms } from "./commands.js";
import { keys } from "./keys.js";
import { dress, pads } from "./pad.js";
import { drafts, restore } from "./draft.js";
import { passkeys } from "./passkeys.js";
import { till } from "./till.js";

keys();
forms();
passkeys();
pads();
drafts();
await restore(document);
dress(document);
const followed = document.querySelector("[data-live]");
if (followed) live(followed);
const table = document.querySelector("[data-dock]");
if (table) dock(table);
const desk = document.querySelector(".till");
if (desk) till(desk);
resumed();
for (const find of document.querySelectorAll("[data-find]")) {
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    for (const one of document.querySelectorAll(find.dataset.find)) {
      one.hidden = !one.textContent.toLowerCase().includes(wanted);
    }
  });
}
