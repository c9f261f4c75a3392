// The table of chips: sums as they are typed, chips proposed for an amount, an amount proposed for chips.
import { mark } from "./words.js";

const GROUP = "\u202f";
const exponent = (form) => Number(form.dataset.exponent || 0);

// Amounts as the house writes them; minor units of what was typed, or null where it is no amount.
function written(value, form) {
  const digits = exponent(form);
  const plain = String(Math.abs(value)).padStart(digits + 1, "0");
  const units = plain.slice(0, plain.length - digits).replace(/\B(?=(\d{3})+$)/g, GROUP);
  return `${value < 0 ? "\u2212" : ""}${units}${digits ? `${mark}${plain.slice(-digits)}` : ""}`;
}

function typed(text, form) {
  const found = /^([0-9]+)(?:[.,]([0-9]+))?$/.exec(text.replace(/\s/g, ""));
  if (!found || (found[2] || "").length > exponent(form)) return null;
  return Number(found[1] + (found[2] || "").padEnd(exponent(form), "0"));
}

const rows = (pad) => [...pad.querySelectorAll("input[data-value]")];
const count = (row) => (/^[0-9]+$/.test(row.value.trim()) ? Number(row.value.trim()) : 0);
const sum = (pad) => rows(pad).reduce((all, row) => all + count(row) * Number(row.dataset.value), 0);
const isEmpty = (pad) => rows(pad).every((row) => !row.value.trim());
const padOf = (form, name) => form.querySelector(`[data-pad="${CSS.escape(name)}"]`);

function goal(form, pad) {
  const other = padOf(form, pad.dataset.makes);
  if (other) return isEmpty(other) ? null : sum(other);
  const field = form.elements.namedItem(pad.dataset.makes);
  return field ? typed(field.value, form) : null;
}

// The largest chips that make an amount; null where no chips do.
function largest(pad, amount) {
  let left = amount;
  const found = rows(pad).map((row) => {
    const pieces = Math.floor(left / Number(row.dataset.value));
    left -= pieces * Number(row.dataset.value);
    return pieces;
  });
  return left ? null : found;
}

function propose(form, pad) {
  if ("hand" in pad.dataset || pad.dataset.makes in { given: 1 }) return;
  const wanted = goal(form, pad);
  const found = wanted ? largest(pad, wanted) : null;
  rows(pad).forEach((row, at) => {
    row.value = found?.[at] ? String(found[at]) : "";
  });
}

function words(pad, state, text) {
  const line = pad.querySelector("[data-words]");
  if (!line) return;
  line.hidden = !text;
  line.textContent = text;
  line.className = `tag ${{ whole: "ok", proposed: "ok", differs: "bad", missing: "warn" }[state] || ""}`;
  if (state === "differs") pad.dataset.differs = "";
  else delete pad.dataset.differs;
}

function judge(form, pad) {
  const said = pad.dataset;
  if ("counted" in said) {
    const left = rows(pad).filter((row) => !row.value.trim()).length;
    words(pad, left ? "missing" : "whole", left ? `${left} ${said.missing}` : said.all);
    return;
  }
  const follower = form.querySelector(`[data-follows="${CSS.escape(said.pad)}"]`);
  if (isEmpty(pad)) {
    words(pad, "", said.makes || follower ? said.house : "");
    return;
  }
  const wanted = said.makes ? goal(form, pad) : follower ? typed(follower.value, form) : null;
  if (wanted === null) {
    words(pad, "", "");
    return;
  }
  const over = sum(pad) - wanted;
  if (!over) words(pad, "whole", said.makes && !("hand" in said) && said.makes !== "given" ? said.proposed : said.whole);
  else words(pad, "differs", `${over < 0 ? said.short : said.over} ${written(Math.abs(over), form)}`);
}

function reckon(form, from) {
  const pads = [...form.querySelectorAll("[data-pad]")];
  for (const pad of pads) {
    if (from && pad.dataset.makes === from.name) propose(form, pad);
    const follower = form.querySelector(`[data-follows="${CSS.escape(pad.dataset.pad)}"]`);
    if (follower && from && pad.contains(from) && !("hand" in follower.dataset)) {
      follower.value = isEmpty(pad) ? "" : written(sum(pad), form);
    }
  }
  for (const pad of pads) {
    for (const row of rows(pad)) {
      const worth = row.closest("tr").querySelector("[data-worth]");
      worth.textContent = row.value.trim() ? written(count(row) * Number(row.dataset.value), form) : "";
    }
    pad.querySelector("[data-sum]").textContent = written(sum(pad), form);
    judge(form, pad);
  }
}

export const fits = (form) => form.querySelector("[data-differs]") === null;

export function dress(root) {
  for (const form of root.querySelectorAll("form[data-command]")) {
    // What stands there already was typed, or is known: no proposal takes its place.
    for (const pad of form.querySelectorAll("[data-makes]")) if (!isEmpty(pad) && !("dressed" in form.dataset)) pad.dataset.hand = "";
    for (const field of form.querySelectorAll("[data-follows]")) if (field.value && !("dressed" in form.dataset)) field.dataset.hand = "";
    if (form.querySelector("[data-pad]")) reckon(form, null);
    form.dataset.dressed = "";
  }
}

function press(button, pad) {
  const form = pad.closest("form");
  if ("add" in button.dataset) {
    const row = button.closest("tr").querySelector("input[data-value]");
    row.value = String(count(row) + Number(button.dataset.add));
    row.dispatchEvent(new Event("input", { bubbles: true }));
    return;
  }
  for (const row of rows(pad)) {
    if ("clear" in button.dataset) row.value = "";
    else if (!row.value.trim()) row.value = "0";
  }
  if ("clear" in button.dataset) delete pad.dataset.hand;
  const first = rows(pad)[0];
  if ("zero" in button.dataset) first.dispatchEvent(new Event("input", { bubbles: true }));
  else reckon(form, first);
}

export function pads() {
  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-command]");
    if (!form?.querySelector("[data-pad]")) return;
    const pad = event.target.closest("[data-pad]");
    if (pad?.dataset.makes) pad.dataset.hand = "";
    if ("follows" in event.target.dataset) {
      if (event.target.value.trim()) event.target.dataset.hand = "";
      else delete event.target.dataset.hand;
    }
    reckon(form, event.target);
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-add], [data-zero], [data-clear]");
    const pad = button?.closest("[data-pad]");
    if (pad) press(button, pad);
  });
}
