// What proves a hand, checked here line by line: events, record, place in the log, signature, deck.
import { bytes, hex, note, opens, root, sha256, signed, verifier } from "./proofs.js";
import { committed, packRoot, packs, split } from "./deck.js";
import { t } from "./words.js";

const text = new TextEncoder();
const KEY = "cukassza.log-key";
// Receipts that are asked for at a time.
const TOGETHER = 6;

// Canonical JSON as the engine writes it: sorted keys, no blanks, ASCII.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.keys(value).sort().map((name) => `${canonical(name)}:${canonical(value[name])}`).join(",")}}`;
  }
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const equal = (one, other) => JSON.stringify(one) === JSON.stringify(other);

async function payloads(found, say) {
  const whole = found.events.filter((one) => one.payload !== undefined);
  if (!whole.length) return [];
  const hashes = await Promise.all(whole.map((one) => sha256(Uint8Array.of(0), text.encode(one.payload))));
  say(hashes.every((one, at) => hex(one) === whole[at].hash), t("{count} events of the hand: each text has the hash under which it stands", { count: whole.length }));
  const read = whole.map((one) => JSON.parse(one.payload));
  const pairs = read.slice(1).filter((one, at) => one.seq === read[at].seq + 1);
  say(pairs.every((one) => one.prev === whole[read.indexOf(one) - 1].hash), t("Each event names the hash of the one before it ({count} links)", { count: pairs.length }));
  return read;
}

async function record(found, read, say) {
  const named = read.find((one) => one.data.record_hash);
  if (!found.record) {
    say(null, t("The record has cards that you do not see: an auditor checks its hash"));
    return;
  }
  say(equal(found.record.acts, found.lines), t("The {count} lines on this page are those of the record", { count: found.lines.length }));
  if (!named) {
    say(null, t("The hand did not come to its end: no event names a hash of its record"));
    return;
  }
  const hash = hex(await sha256(text.encode(canonical(found.record))));
  say(hash === named.data.record_hash, t("The record has the hash that event {event} names: {hash}…", { event: `${named.chain} #${named.seq}`, hash: hash.slice(0, 16) }));
  say(equal(named.data.result.net, found.record.net), t("The result of the record is that of the event"));
}

async function receipt(one, size) {
  const response = await fetch(`/api/v1/receipts/${one.hash}${size ? `?size=${size}` : ""}`, { cache: "no-store" });
  const body = await response.json();
  if (response.status === 409 && body.code === "not_in_the_log_yet") return null;
  if (!response.ok) throw new Error(body.detail || body.title);
  return body;
}

// All events against one checkpoint, the newest one that has the last of them.
async function inclusion(found, say) {
  if (!found.events.length) {
    say(false, t("No event of this hand is known"));
    return null;
  }
  const newest = await receipt(found.events[found.events.length - 1]);
  if (!newest) {
    say(null, t("The last event is not in the signed log yet: look again in a few seconds"));
    return null;
  }
  const checkpoint = note(newest.checkpoint);
  let holds = checkpoint.size === newest.size;
  for (let at = 0; at < found.events.length; at += TOGETHER) {
    const some = found.events.slice(at, at + TOGETHER);
    const proofs = await Promise.all(some.map((one) => receipt(one, newest.size)));
    for (const [place, one] of proofs.entries()) {
      const led = one && (await root(bytes(some[place].hash), one.leaf_index, one.size, one.path.map(bytes)));
      holds = holds && Boolean(led) && hex(led) === hex(checkpoint.root);
    }
  }
  say(holds, t("All {count} events are in the log of {size} events: each path leads to the root of one checkpoint", { count: found.events.length, size: checkpoint.size }));
  return checkpoint;
}

async function signature(found, checkpoint, say) {
  if (!checkpoint) return;
  const own = localStorage.getItem(KEY);
  const keys = own ? [own] : found.keys;
  if (!keys.length) {
    say(null, t("No key of the log is at hand: who has signed the checkpoint was not checked"));
    return;
  }
  const tried = await Promise.all(keys.map(async (one) => signed(checkpoint, await verifier(one))));
  const holds = tried.some(Boolean);
  say(holds, own ? t("The checkpoint is signed with the key that you keep here") : t("The checkpoint is signed with the key of the log that the house gives"));
  if (holds && !own) say(null, t("Compare that key with a copy from somebody else than the house"));
  const others = checkpoint.signatures.length - 1;
  say(null, others > 0 ? t("{count} more signatures stand on the checkpoint; they are not checked here", { count: others }) : t("No witness has cosigned the checkpoint yet"));
}

// The pack as it is printed: the one of the game's packs that has these cards.
const printed = (found, deck) =>
  found.packs
    .map((one) => one.split(" "))
    .map(([ranks, suits]) => [...suits].flatMap((suit) => [...ranks].map((rank) => rank + suit)))
    .find((cards) => equal([...cards].sort(), [...deck].sort()));

async function deck(found, read, say) {
  if (found.mode !== "electronic") {
    say(null, t("A real pack: the cards are what the dealer has entered"));
    return;
  }
  const dealt = read.find((one) => one.kind === "hand.dealt");
  const { record: whole } = found;
  if (whole?.seed) {
    const again = await committed(whole.seed, whole.hand);
    const wanted = dealt ? dealt.data.commitment : found.commitment;
    say(again === wanted, t("The seed of the house is the one that was committed to before the deal"));
    const given = (whole.decks || [whole.deck]).map(split);
    const pack = printed(found, given[0]);
    const made = pack ? await packs(whole, pack) : [];
    say(equal(made, given), given.length > 1 ? t("The seeds of house and players make this row of decks again, card by card") : t("The seeds of house and players make this deck again, card by card"));
    const roots = await Promise.all(given.map((cards, at) => packRoot(cards, whole.seed, whole.hand, at)));
    say(equal(roots, found.roots), t("The deck has the root that was published when it was dealt"));
  }
  const opened = await Promise.all(found.openings.map((one) => opens(one, found.hand, found.roots)));
  if (opened.length) say(opened.every(Boolean), t("{count} cards that you may know lay at their places when the pack was dealt", { count: opened.length }));
  else say(null, t("No card has been opened: nothing of the deck can be checked yet"));
  if (!whole?.seed) say(null, t("The house opens its seed to auditors when the hand is over"));
}

export async function check(found, say) {
  const steps = [
    [t("The events cannot be checked"), async () => payloads(found, say)],
    [t("The record cannot be checked"), async (read) => record(found, read, say)],
    [t("The place in the log cannot be checked"), async () => inclusion(found, say)],
    [t("The signature cannot be checked"), async (_, checkpoint) => signature(found, checkpoint, say)],
    [t("The deck cannot be checked"), async (read) => deck(found, read, say)],
  ];
  let read = [];
  let checkpoint = null;
  for (const [at, [words, step]] of steps.entries()) {
    try {
      const answer = await step(read, checkpoint);
      if (at === 0) read = answer;
      if (at === 2) checkpoint = answer;
    } catch (error) {
      say(false, `${words}: ${error.message}`);
    }
  }
}
