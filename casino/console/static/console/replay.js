// A hand step by step, by keys and buttons; the address has the line. Beside it the proof is checked.
import { isTyping } from "./keys.js";
import { check } from "./evidence.js";
import { t } from "./words.js";

const page = document.querySelector(".replay");
const steps = [...page.querySelectorAll("template[data-step]")];
const rows = [...page.querySelectorAll("tr[data-line]")];
const last = steps.length - 1;
const PAUSE = 1200;
let at = -1;
let playing = null;

const button = (name) => page.querySelector(`[data-go="${name}"]`);

function show(wanted, { follow = true } = {}) {
  const to = Math.min(last, Math.max(0, wanted));
  if (to === at) return;
  at = to;
  page.querySelector("#stage").replaceChildren(steps[at].content.cloneNode(true));
  const row = rows[at];
  for (const one of rows) one.removeAttribute("aria-current");
  row.setAttribute("aria-current", "step");
  const list = row.closest(".scroll");
  if (follow) list.scrollTop = row.offsetTop - list.clientHeight / 2;
  page.querySelector("#line").textContent = row.dataset.said;
  page.querySelector("#sentence").textContent = row.dataset.sentence;
  page.querySelector("#count").textContent = `${at} / ${last}`;
  for (const name of ["first", "back"]) button(name).disabled = at === 0;
  for (const name of ["forward", "last"]) button(name).disabled = at === last;
  history.replaceState(null, "", `#line=${at}`);
}

function stop() {
  clearInterval(playing);
  playing = null;
  button("play").setAttribute("aria-pressed", "false");
}

const acts = {
  first: () => show(0),
  back: () => show(at - 1),
  forward: () => show(at + 1),
  last: () => show(last),
  play: () => {
    if (at === last) show(0);
    button("play").setAttribute("aria-pressed", "true");
    playing = setInterval(() => (at < last ? show(at + 1) : stop()), PAUSE);
  },
  settlement: () => {
    show(last);
    const money = document.getElementById("money");
    money.focus({ preventScroll: true });
    money.scrollIntoView({ block: "nearest" });
  },
};
const KEYS = { Home: "first", ArrowLeft: "back", ArrowRight: "forward", End: "last", " ": "play", s: "settlement", S: "settlement" };

function go(name) {
  const going = playing !== null;
  stop();
  if (name !== "play" || !going) acts[name]();
}

page.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-go]");
  if (pressed) go(pressed.dataset.go);
  const row = event.target.closest("tr[data-line]");
  if (row) {
    stop();
    show(Number(row.dataset.line), { follow: false });
  }
});
document.addEventListener("keydown", (event) => {
  const name = KEYS[event.key];
  if (!name || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && event.target instanceof HTMLElement && event.target.closest("button, a, summary")) return;
  event.preventDefault();
  go(name);
});
addEventListener("hashchange", () => show(asked()));

const asked = () => {
  const found = /^#line=([0-9]+)$/.exec(location.hash);
  return found ? Number(found[1]) : last;
};

function say(holds, words) {
  const line = document.createElement("li");
  line.className = `note ${holds === null ? "warn" : holds ? "ok" : "bad"}`;
  const mark = document.createElement("b");
  mark.textContent = holds === null ? "? " : holds ? "✓ " : "✗ ";
  line.append(mark, words);
  document.getElementById("proof-lines").append(line);
}

show(asked());
check(JSON.parse(document.getElementById("proof").textContent), say).then(() => {
  const lines = [...document.querySelectorAll("#proof-lines li")];
  const fails = lines.filter((one) => one.classList.contains("bad")).length;
  const holds = lines.filter((one) => one.classList.contains("ok")).length;
  const sum = document.getElementById("proved");
  sum.className = `note ${fails ? "bad" : holds ? "ok" : "warn"}`;
  sum.querySelector("b").textContent = fails
    ? "✗ " + t("{count} checks fail", { count: fails })
    : holds ? "✓ " + t("{count} checks hold, none fails", { count: holds }) : "? " + t("Nothing can be checked yet");
});
