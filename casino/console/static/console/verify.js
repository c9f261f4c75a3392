// The page behind the QR code of a paper: it fetches a receipt, or takes it from the paper, and checks it here against
// the key that the reader has.
import { bytes, hex, note, printed, root, signed, verifier } from "./proofs.js";
import { t } from "./words.js";

const place = document.getElementById("verify");
const list = document.getElementById("found");
const KEY = "cukassza.log-key";

function say(holds, words) {
  const line = document.createElement("li");
  line.className = `note ${holds === null ? "warn" : holds ? "ok" : "bad"}`;
  const mark = document.createElement("b");
  mark.textContent = holds === null ? "? " : holds ? "✓ " : "✗ ";
  line.append(mark, words);
  list.append(line);
}

async function receipt(digest) {
  const response = await fetch(`/api/v1/receipts/${digest}`, { cache: "no-store" });
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail || body.title);
  return body;
}

async function check(found, digest, given) {
  say(found.hash === digest, t("The receipt is of this event"));
  if (found.format !== "cukassza/receipt/1") throw new Error(t("This is no receipt."));
  const checkpoint = note(found.checkpoint);
  say(checkpoint.size === found.size, t("The checkpoint is of {count} events", { count: found.size }));
  const led = await root(bytes(found.hash), found.leaf_index, found.size, found.path.map(bytes));
  say(led !== null && hex(led) === hex(checkpoint.root), t("The path leads from the event to the root of the checkpoint"));
  if (!given) {
    say(null, t("No key was given: who has signed the checkpoint was not checked"));
    return;
  }
  say(await signed(checkpoint, await verifier(given)), t("The checkpoint is signed with the key of the log"));
}

async function run() {
  list.replaceChildren();
  const digest = document.getElementById("hash").value.trim();
  const given = document.getElementById("key").value.trim();
  try {
    if (given) localStorage.setItem(KEY, given);
    const paper = document.getElementById("printed").value.trim();
    await check(paper ? await printed(paper) : await receipt(digest), digest, given);
  } catch (error) {
    say(false, error.message);
  }
}

document.getElementById("key").value = localStorage.getItem(KEY) || "";
place.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
if (document.getElementById("hash").value) run();
