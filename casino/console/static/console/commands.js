// A write is sent under one key until its answer is known. It is kept until then, also when the page is loaded again,
// and no longer.
import { drop, keep, kept, names } from "./kept.js";
import { say, freeze, thaw, frozen } from "./strip.js";
import { fits } from "./pad.js";
import { forget } from "./draft.js";
import { t } from "./words.js";

const KEPT = "cukassza.command";
const PAUSES = [500, 1000, 2000, 4000];
const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content || "";
// What one person has sent is not sent again in the name of another.
const place = () => `${KEPT}.${meta("person")}`;

export const changed = () => document.body.dispatchEvent(new Event("changed"));

const wait = (time) => new Promise((go) => setTimeout(go, time));

// An answer that leaves the outcome open: the server failed, or says that it does not know.
const isOpen = (status) => status === 500 || status === 502 || status === 503 || status === 504;

// A page of the house that carries out a form, and answers with the part of the page that has changed.
function ofForm(command) {
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": meta("csrf"),
    "HX-Request": "true", "HX-Current-URL": location.href,
  };
  return { address: command.path, headers };
}

function ofHouse(command) {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": command.key, "X-CSRFToken": meta("csrf") };
  if (command.version !== null) headers["If-Match"] = `"${command.version}"`;
  return { address: `/console/do/${command.path}`, headers };
}

async function answered(command) {
  const { address, headers } = command.form ? ofForm(command) : ofHouse(command);
  const response = await fetch(address, {
    method: "POST", headers, body: command.body, credentials: "same-origin", cache: "no-store",
  });
  const text = await response.text();
  const answer = { status: response.status, text, elsewhere: response.headers.get("HX-Redirect"), body: null, readOnly: response.headers.has("X-Read-Only") };
  if (command.form) return answer;
  try {
    answer.body = text ? JSON.parse(text) : null;
  } catch {
    answer.body = { title: t("An answer that cannot be read"), code: "unreadable" };
  }
  return answer;
}

async function until(command) {
  freeze("sending");
  say("sending", t("Sending"), command.label);
  for (let tried = 0; ; tried += 1) {
    try {
      const answer = await answered(command);
      // A house that writes nothing has recorded nothing: to repeat that is of no use.
      if (answer.readOnly || !isOpen(answer.status)) return { ...answer, tried };
      say("waiting", t("The house does not answer yet"), t("{label} · same key, try {number}", { label: command.label, number: tried + 2 }));
    } catch {
      say("unknown", t("Outcome unknown, repeating"), t("{label} · same key, try {number} · counted once", { label: command.label, number: tried + 2 }));
    }
    await wait(PAUSES[Math.min(tried, PAUSES.length - 1)]);
  }
}

function recorded(command, { status, body }) {
  if (status < 300) {
    const audit = body?.audit;
    say("recorded", t("Recorded"), `${command.label}${audit ? ` · ${audit.chain} #${audit.seq} · ${audit.hash.slice(0, 8)}` : ""}`);
  } else if (status === 412) {
    say("changed", t("Changed meanwhile"), t("{label} was not recorded. Look, then decide again.", { label: command.label }));
  } else if (leaves({ status, body })) {
    location.assign(command.path.startsWith("seat/") ? "/console/seat" : "/console/");
  } else {
    say("refused", body?.detail || body?.title || t("Refused"), `${command.label} · ${body?.code || status}`);
  }
}

// The part that the house has answered with takes the place of the form; what was recorded stays beside it.
function put(command, { status, text }) {
  const found = new DOMParser().parseFromString(text, "text/html");
  const part = found.querySelector("[data-part]");
  if (!part) {
    say("refused", found.querySelector(".note b")?.textContent || t("Refused"), `${command.label} · ${status}`);
    return;
  }
  const done = part.dataset.state === "recorded";
  const title = { recorded: t("Recorded"), changed: t("Changed meanwhile") }[part.dataset.state] || part.dataset.title;
  say(part.dataset.state || "refused", title, part.dataset.detail || command.label);
  const beside = document.getElementById("said");
  const said = part.querySelector("[data-said]");
  if (beside) beside.replaceChildren(...(said ? [document.adoptNode(said)] : []));
  const here = document.querySelector(`[data-part="${CSS.escape(part.dataset.part)}"]`);
  const made = document.adoptNode(part);
  if (here) here.replaceWith(made);
  else (document.getElementById("job") || document.querySelector("main")).prepend(made);
  if (done && beside && made.closest("#job")) made.remove();
  document.body.dispatchEvent(new CustomEvent("placed", { detail: made }));
  if (done) {
    forget(command.path);
    document.getElementById("strip")?.focus({ preventScroll: true });
    document.body.dispatchEvent(new Event("written"));
  } else {
    (made.querySelector("[role=alert]") || made).scrollIntoView({ block: "nearest" });
  }
}

// Whether the house wants to know first who it is.
const leaves = ({ elsewhere, status, body }) => Boolean(elsewhere) || status === 401 || body?.code === "reauthentication_required";

async function finish(command) {
  const answer = await until(command);
  // Where an earlier try may have been carried out, the command is kept: it is asked again after signing in.
  if (!leaves(answer) || !answer.tried) drop(place());
  thaw("sending");
  if (answer.elsewhere) {
    location.assign(answer.elsewhere);
    return answer;
  }
  if (answer.readOnly) say("readonly", "The house is read-only", `${command.label} was not recorded. Stop, and call the administrator and the auditor.`);
  else if (command.form) put(command, answer);
  else recorded(command, answer);
  changed();
  return answer;
}

async function begin(command) {
  // Before anything is waited for: what is pressed twice is one act.
  freeze("sending");
  // A password is kept nowhere: a page that is loaded again asks for it again.
  if (!command.secret) await keep(place(), command);
  return finish(command);
}

export function send(path, body, version, label) {
  return begin({ key: crypto.randomUUID(), path, body: JSON.stringify(body), version, label });
}

// What was sent before the page was loaded, and never answered.
export async function resumed() {
  const found = await kept(place());
  if (found) {
    finish(found);
    return;
  }
  const [others] = names(`${KEPT}.`);
  if (others && meta("person")) {
    say("unknown", t("Not answered yet"), t("A write of {person}: who sent it signs in here to know.", { person: others.slice(KEPT.length + 1) }));
  }
}

// A form with its key in it is sent until it is answered: what is pressed twice, or sent again after a lost answer, is
// one act, and the answer to a repeat is the same.
export function forms() {
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-command]");
    if (!form) return;
    event.preventDefault();
    if (frozen()) return;
    if (!fits(form)) {
      say("refused", t("Not sent"), t("{label}: the chips do not make the sum", { label: form.dataset.label }));
      return;
    }
    const body = new URLSearchParams(new FormData(form)).toString();
    begin({ form: true, path: form.getAttribute("action") || location.pathname, body, label: form.dataset.label || "", secret: form.querySelector('input[type="password"]') !== null });
  });
}
