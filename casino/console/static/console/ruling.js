// Dividing a frozen pot: what a reading gives is filled in, the sum says what is missing, chips are named.
import { mark, t } from "./words.js";

const MINUS = "−";
const place = () => document.querySelector(".ruling");
const units = () => 10 ** Number(place().dataset.exponent);

function written(amount) {
  const digits = Number(place().dataset.exponent);
  const text = (Math.abs(amount) / units()).toFixed(digits).replace(".", mark).replace(/\B(?=(\d{3})+(?!\d))/g, " ");
  return (amount < 0 ? MINUS : "") + text;
}

// Minor units of what was typed; null for what is no amount.
function typed(text) {
  const plain = text.replace(/[\s  ]/g, "").replace(",", ".");
  if (!plain) return 0;
  if (!/^[0-9]+(\.[0-9]+)?$/.test(plain)) return null;
  const amount = Number(plain) * units();
  return Math.abs(amount - Math.round(amount)) < 1e-6 ? Math.round(amount) : null;
}

const typable = (amount) => (amount / units()).toFixed(Number(place().dataset.exponent));

function pieces(amount) {
  const found = [];
  let left = amount;
  for (const value of place().dataset.denominations.split(" ").map(Number).filter(Boolean).sort((one, other) => other - one)) {
    const count = Math.floor(left / value);
    if (count) found.push(`${count} × ${written(value)}`);
    left -= count * value;
  }
  return left ? "" : found.join(" · ");
}

function reckon(form) {
  const pot = Number(form.dataset.divide);
  let sum = 0;
  let readable = true;
  for (const field of form.querySelectorAll("[data-award]")) {
    const amount = typed(field.value);
    if (amount === null) readable = false;
    else sum += amount;
    field.closest("tr").querySelector("[data-chips]").textContent = amount ? pieces(amount) : "";
  }
  const line = form.querySelector("[data-sum]");
  const left = pot - sum;
  const whole = readable && left === 0;
  line.className = `note ${whole ? "ok" : "warn"}`;
  line.querySelector("b").textContent = !readable
    ? t("Not every amount can be read")
    : left === 0 ? t("The whole pot, {pot}: nothing is left", { pot: written(pot) }) : left > 0 ? t("{left} of {pot} are left", { left: written(left), pot: written(pot) }) : t("{more} more than the pot of {pot}", { more: written(-left), pot: written(pot) });
  form.querySelector("button:not([type])").disabled = !whole;
}

function dress() {
  const form = document.querySelector("form[data-divide]");
  if (form) reckon(form);
}

document.addEventListener("click", (event) => {
  const reading = event.target.closest("[data-reading]");
  if (reading) {
    const form = reading.closest("form");
    for (const field of form.querySelectorAll("[data-award]")) field.value = typable(Number(field.dataset[reading.dataset.reading] || 0));
    for (const one of form.querySelectorAll("[data-reading]")) one.setAttribute("aria-pressed", String(one === reading));
    reckon(form);
  }
  const claim = event.target.closest("[data-claim]");
  if (claim) {
    const field = document.getElementById("claimed");
    const words = claim.dataset.claim.trim();
    field.value = [field.value.trim(), words].filter(Boolean).join("\n");
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }
});
document.addEventListener("input", (event) => {
  const form = event.target.closest?.("form[data-divide]");
  if (form) reckon(form);
});
document.body.addEventListener("placed", dress);
dress();
