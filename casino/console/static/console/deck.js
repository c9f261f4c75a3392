// The deck of an electronic hand made again out of its seed: commitment, HMAC-DRBG, Fisher-Yates, root of the salted
// cards. `engine/deal/shuffle.py` and `engine/deal/opening.py` say how; the reference vectors are the same.
import { SHUFFLE, bytes, encoded, hex, joined, node, number, sha256 } from "./proofs.js";

const text = new TextEncoder();
const WORDS = 2 ** 32;
const REQUEST = 128;

async function hmac(key, ...data) {
  const made = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", made, joined(...data)));
}

export const committed = async (seed, hand) => hex(await sha256(encoded("commit-v1", SHUFFLE, hand, bytes(seed))));

// HMAC-DRBG with SHA-256 (NIST SP 800-90A, 10.1.2): 32-bit words, as many as are asked for.
async function* words(seed, hand, purpose) {
  let key = new Uint8Array(32);
  let value = new Uint8Array(32).fill(1);
  const update = async (data) => {
    for (const step of [0, 1]) {
      key = await hmac(key, value, Uint8Array.of(step), data);
      value = await hmac(key, value);
      if (!data.length) return;
    }
  };
  await update(joined(bytes(seed), text.encode(hand), purpose));
  for (;;) {
    const out = [];
    for (let made = 0; made < REQUEST; made += 32) {
      value = await hmac(key, value);
      out.push(value);
    }
    await update(new Uint8Array(0));
    const block = new DataView(joined(...out).buffer);
    for (let at = 0; at < REQUEST; at += 4) yield block.getUint32(at);
  }
}

async function shuffled(cards, seed, hand, purpose, said) {
  const parts = [...purpose];
  for (const chair of Object.keys(said).map(Number).sort((one, other) => one - other)) parts.push(Uint8Array.of(chair), said[chair]);
  const source = words(seed, hand, encoded(...parts));
  const deck = [...cards];
  for (let last = deck.length - 1; last > 0; last -= 1) {
    const bound = last + 1;
    const limit = WORDS - (WORDS % bound);
    let word = limit;
    while (word >= limit) word = (await source.next()).value;
    const pick = word % bound;
    [deck[last], deck[pick]] = [deck[pick], deck[last]];
  }
  return deck;
}

// The packs of a record, the deck first, made again; `printed` is the pack as it is printed.
export async function packs(record, printed) {
  const given = record.decks || [record.deck];
  const said = record.client_seeds || {};
  const found = [await shuffled(printed, record.seed, record.hand, ["deck-v1", SHUFFLE], said)];
  for (let again = 1; again < given.length; again += 1) {
    const cards = printed.filter((card) => split(given[again]).includes(card));
    found.push(await shuffled(cards, record.seed, record.hand, ["redeal-v1", SHUFFLE, number(again)], said));
  }
  return found;
}

export const split = (cards) => cards.match(/../g) || [];

// The root over the salted cards of a pack.
export async function packRoot(cards, seed, hand, pack) {
  const key = await hmac(bytes(seed), encoded("salt-v1", SHUFFLE, hand, number(pack)));
  let level = await Promise.all(
    cards.map(async (card, at) => {
      const salt = await hmac(key, number(at));
      return sha256(Uint8Array.of(0), encoded("card-v1", SHUFFLE, hand, number(pack), number(at), card, salt));
    }),
  );
  while (level.length > 1) {
    const above = [];
    for (let at = 0; at + 1 < level.length; at += 2) above.push(await node(level[at], level[at + 1]));
    if (level.length % 2) above.push(level[level.length - 1]);
    level = above;
  }
  return hex(level[0]);
}
