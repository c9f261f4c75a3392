// The one line that says what is known: recorded, sending, outcome unknown, stale, changed, waiting, refused.
const strip = () => document.getElementById("strip");

export function say(state, title, detail = "") {
  const line = strip();
  if (!line) return;
  line.dataset.state = state;
  line.querySelector("b").textContent = title;
  line.querySelector("span").textContent = detail;
}

export const said = () => strip()?.dataset.state;

export function heard(words) {
  const line = strip();
  if (line) line.querySelector(".live").textContent = words;
}

// While a page is frozen nothing is sent from it; every cause is lifted by itself.
const causes = new Set();

function mark() {
  if (causes.size) document.body.dataset.frozen = [...causes].join(" ");
  else delete document.body.dataset.frozen;
}

export function freeze(cause) {
  causes.add(cause);
  mark();
}

export function thaw(cause) {
  causes.delete(cause);
  mark();
}

export const frozen = () => causes.size > 0;
