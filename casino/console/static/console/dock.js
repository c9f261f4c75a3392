// The dock: a press of a button is an act where nothing else is to be said; else the pad asks for what is missing.
import { send } from "./commands.js";
import { frozen } from "./strip.js";
import { isTyping } from "./keys.js";
import { language, t } from "./words.js";

const UNKNOWN = "??";

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// What a field may be without anybody choosing; undefined where somebody must.
function only(field) {
  switch (field.kind) {
    case "amount":
    case "number":
      return field.min === field.max ? field.min : undefined;
    case "seat":
    case "word":
      return field.choices.length === 1 ? field.choices[0] : undefined;
    case "seats":
      return field.choices.length === field.least || field.must.length === field.choices.length ? field.choices : undefined;
    case "cards":
      if (field.choices) return field.choices.length === 1 ? field.choices[0] : undefined;
      return field.unknown && field.least === field.most && !(field.among || []).length ? UNKNOWN.repeat(field.least) : undefined;
    case "places":
      if (field.choices) return field.choices.length === 1 ? field.choices[0] : undefined;
      return undefined;
    case "commitment":
      return field.unknown ? UNKNOWN : undefined;
    default:
      return undefined;
  }
}

export function dock(table) {
  const place = () => table.querySelector("#dock");
  const pad = () => table.querySelector("#amt");
  // At a table it stands beside the dock, on a player's device in it.
  const declared = (name) => table.dataset[name] ?? place()?.dataset[name];
  const exponent = () => Number(declared("exponent"));
  let open = null;
  // Amounts as the house writes them; a number that is no money is written as it is.
  const written = (value, field) =>
    (field.kind === "amount" ? value / 10 ** exponent() : value).toLocaleString(language, {
      minimumFractionDigits: field.kind === "amount" ? exponent() : 0,
    });
  // A card of the hand by its place: a player sees which one it is.
  const named = (at) => JSON.parse(place().dataset.held || "[]")[at] ?? at + 1;

  function act(button, given) {
    const { table: code, version, hand } = place().dataset;
    const { actor, verb, label } = button.dataset;
    close();
    if (hand) return send("seat/actions", { hand, line: Number(version), action: { verb, ...given } }, null, label);
    return send(`tables/${code}/hand/actions`, { actions: [{ actor, verb, ...given }] }, Number(version), label);
  }

  function close() {
    open = null;
    pad()?.replaceChildren();
    for (const one of table.querySelectorAll("[data-act]")) one.removeAttribute("aria-pressed");
  }

  // Why an act is not on offer: the phases that it belongs to, or what it takes besides.
  function explain(button) {
    close();
    const named = element("b", { textContent: t("{label}: not now", { label: button.dataset.label }) });
    const words = element("p", { className: "why", tabIndex: -1 }, named, element("span", { textContent: button.dataset.why }));
    pad().replaceChildren(words);
    words.focus({ preventScroll: true });
  }

  function press(button) {
    if (frozen()) return;
    const fields = JSON.parse(button.dataset.takes);
    const given = {};
    const asked = [];
    for (const [name, field] of Object.entries(fields)) {
      const value = only(field);
      if (value === undefined) asked.push([name, field]);
      else given[name] = value;
    }
    if (!asked.length) {
      act(button, given);
      return;
    }
    close();
    button.setAttribute("aria-pressed", "true");
    open = { button, given, asked };
    next();
  }

  function next() {
    const { button, given, asked } = open;
    if (!asked.length) {
      act(button, given);
      return;
    }
    const [name, field] = asked[0];
    const take = (value) => {
      given[name] = value;
      asked.shift();
      next();
    };
    pad().replaceChildren(...pads[field.kind](field, take));
    (pad().querySelector(".go") || pad().querySelector("button"))?.focus();
  }

  const key = (text, take, extra = {}) => {
    const made = element("button", { className: "b", type: "button", textContent: text, ...extra });
    made.addEventListener("click", take);
    return made;
  };

  function amounts(field, take) {
    let value = field.min;
    let typed = "";
    const shown = element("output", { textContent: written(value, field) });
    const set = (to) => {
      value = Math.min(field.max, Math.max(field.min, to));
      shown.textContent = written(value, field);
    };
    const onto = (to) => field.min + Math.round((to - field.min) / field.step) * field.step;
    const half = onto((field.min + field.max) / 2);
    const quick = [...new Set([field.min, half, field.max])];
    open.digit = (digit) => {
      typed += digit;
      value = Number(typed) * (field.kind === "amount" ? 10 ** exponent() : 1);
      shown.textContent = written(value, field);
    };
    open.enter = () => {
      if (value >= field.min && value <= field.max && (value - field.min) % field.step === 0) take(value);
      else {
        typed = "";
        shown.textContent = `${written(field.min, field)} – ${written(field.max, field)}`;
      }
    };
    return [
      key("−", () => set(value - field.step), { ariaLabel: t("less by {amount}", { amount: written(field.step, field) }) }),
      shown,
      key("+", () => set(value + field.step), { ariaLabel: t("more by {amount}", { amount: written(field.step, field) }) }),
      ...quick.map((one) => key(written(one, field), () => take(one))),
      key("↵", () => open.enter(), { className: "b go", ariaLabel: t("this amount") }),
    ];
  }

  const choices = (field, take) => field.choices.map((one) => key(Array.isArray(one) ? one.map(named).join(" + ") : one, () => take(one)));

  function several(all, least, most, take, named = (one) => one) {
    const chosen = [];
    const done = key("↵", () => chosen.length >= least && take(chosen), { className: "b go", ariaLabel: t("these") });
    open.enter = () => done.click();
    const buttons = all.map((one) => {
      const made = key(named(one), () => {
        const at = chosen.indexOf(one);
        if (at >= 0) chosen.splice(at, 1);
        else if (chosen.length < most) chosen.push(one);
        made.setAttribute("aria-pressed", String(chosen.includes(one)));
        if (least === most && chosen.length === most) take(chosen);
      });
      return made;
    });
    return least === most ? buttons : [...buttons, done];
  }

  function deck(field, take) {
    if (field.choices) return choices(field, take);
    const cards = JSON.parse(declared("cards"));
    const all = field.among?.length ? [...field.among] : [...cards.suits].flatMap((suit) => [...cards.ranks].map((rank) => rank + suit));
    const found = several(all, field.least, field.most, (chosen) => take(chosen.join("")));
    if (field.unknown) found.push(key(t("face down"), () => take(UNKNOWN.repeat(field.least))));
    return found;
  }

  const pads = {
    amount: amounts,
    number: amounts,
    seat: choices,
    word: choices,
    seats: (field, take) => several(field.choices, Math.max(field.least, 1), field.choices.length, (chosen) => take([...chosen].sort())),
    cards: deck,
    places: (field, take) => (field.choices ? choices(field, take) : several(field.among, field.least, field.most, take, named)),
    commitment: (field, take) => [key(t("a real fist"), () => take(UNKNOWN))],
    nonce: () => [element("p", { textContent: t("Only the player's device can open this.") })],
  };

  // What a hint brings that is shown already must not close a pad that somebody has just opened.
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const { version, state } = place()?.dataset || {};
    const come = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html").getElementById("dock")?.dataset;
    if (come && come.version === version && come.state === state) event.detail.shouldSwap = false;
    else close();
  });
  table.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act], [data-write], [data-why]");
    if (button && "why" in button.dataset) {
      explain(button);
      return;
    }
    if (!button || frozen()) return;
    if ("act" in button.dataset) press(button);
    else send(button.dataset.write, JSON.parse(button.dataset.body), Number(place().dataset.version), button.dataset.label);
  });
  document.addEventListener("keydown", (event) => {
    if (!open || isTyping(event.target)) return;
    if (/^[0-9]$/.test(event.key) && open.digit) open.digit(event.key);
    else if (event.key === "Enter" && open.enter && !(event.target instanceof HTMLButtonElement)) open.enter();
    else if (event.key === "Escape") close();
  });
}
