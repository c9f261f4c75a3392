// Proofs that are checked here, in the browser, and not believed: Merkle trees (RFC 6962), openings of cards, signed notes.
import { t } from "./words.js";

const text = new TextEncoder();

export const hex = (bytes) => [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");
export const bytes = (digits) => Uint8Array.from(digits.match(/../g) || [], (pair) => parseInt(pair, 16));
export const base64 = (coded) => Uint8Array.from(atob(coded), (one) => one.charCodeAt(0));

export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of parts) {
    whole.set(one, at);
    at += one.length;
  }
  return whole;
}

export const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));
export const node = (left, right) => sha256(Uint8Array.of(1), left, right);

// The root to which a path leads from a leaf (RFC 6962, 2.1.1); null where the path has the wrong length.
export async function root(leaf, index, size, path) {
  let found = leaf;
  let place = index;
  let last = size - 1;
  for (const step of path) {
    if (!last) return null;
    if (place & 1 || place === last) {
      found = await node(step, found);
      while (!(place & 1) && place) {
        place >>= 1;
        last >>= 1;
      }
    } else {
      found = await node(found, step);
    }
    place >>= 1;
    last >>= 1;
  }
  return last ? null : found;
}

export function number(value) {
  const four = new Uint8Array(4);
  new DataView(four.buffer).setUint32(0, value);
  return four;
}

export const encoded = (...parts) =>
  joined(...parts.flatMap((part) => {
    const raw = typeof part === "string" ? text.encode(part) : part;
    return [number(raw.length), raw];
  }));

export const SHUFFLE = "hmac-drbg-sha256/fisher-yates-u32";

// Whether an opening of a card leads to the root that was published when the pack was dealt.
export async function opens(opening, hand, roots) {
  const wanted = roots[opening.pack];
  if (!wanted) return false;
  const said = encoded("card-v1", SHUFFLE, hand, number(opening.pack), number(opening.position), opening.card, bytes(opening.salt));
  const leaf = await sha256(Uint8Array.of(0), said);
  const found = await root(leaf, opening.position, opening.size, opening.path.map(bytes));
  return found !== null && hex(found) === wanted;
}

// A signed note (C2SP): its text, and its lines of signatures by name.
export function note(whole) {
  const end = whole.indexOf("\n\n");
  const body = whole.slice(0, end + 1);
  const lines = whole.slice(end + 2).split("\n").filter(Boolean);
  const [origin, size, coded] = body.split("\n");
  const signatures = lines.map((line) => {
    const [, name, signature] = line.split(" ");
    const raw = base64(signature);
    return { name, key: hex(raw.slice(0, 4)), signature: raw.slice(4) };
  });
  return { body, origin, size: Number(size), root: base64(coded), signatures };
}

// A key as a house gives it: NAME+ID+KEY, the key being a byte for Ed25519 and 32 bytes.
export async function verifier(given) {
  const [name, id, ...rest] = given.trim().split("+");
  const raw = base64(rest.join("+"));
  if (raw.length !== 33 || raw[0] !== 1) throw new Error(t("This is no key of a log."));
  const expected = hex((await sha256(text.encode(name), Uint8Array.of(10), raw)).slice(0, 4));
  if (expected !== id) throw new Error(t("The key and its id do not belong together."));
  const key = await crypto.subtle.importKey("raw", raw.slice(1), { name: "Ed25519" }, false, ["verify"]);
  return { name, id, key };
}

export async function signed(found, by) {
  for (const one of found.signatures) {
    if (one.name === by.name && one.key === by.id) {
      return crypto.subtle.verify({ name: "Ed25519" }, by.key, one.signature, text.encode(found.body));
    }
  }
  return false;
}

// --- Receipts on paper: Crockford's base 32, in lines with their numbers and checks, or as the text of a QR code ---

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const READ_AS = { O: "0", I: "1", L: "1" };

function plain(given) {
  const found = [...given.toUpperCase()].map((one) => READ_AS[one] || one);
  if (!found.every((one) => ALPHABET.includes(one))) throw new Error(t("Something stands there that is on no paper."));
  return found.join("");
}

async function checked(line, at) {
  const parts = line.trim().split(/\s+/);
  const data = plain(parts.slice(1, -1).join(""));
  const digest = await sha256(text.encode(`${at}:${data}`));
  const ten = (digest[0] << 2) | (digest[1] >> 6);
  const numbered = plain(parts[0]) === String(at).padStart(2, "0");
  if (!numbered || plain(parts[parts.length - 1]) !== ALPHABET[ten >> 5] + ALPHABET[ten & 31]) {
    throw new Error(t("Line {line} has a mistake, or is not in its place.", { line: at }));
  }
  return data;
}

function unpacked(data) {
  const found = new Uint8Array(Math.floor((data.length * 5) / 8));
  let value = 0;
  let bits = 0;
  let at = 0;
  for (const one of data) {
    value = ((value << 5) | ALPHABET.indexOf(one)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      found[at++] = (value >> bits) & 255;
    }
  }
  return found;
}

// A receipt as it was sent, from what a paper has of it.
export async function printed(given) {
  const whole = given.trim().toUpperCase();
  const lines = whole.split("\n").filter((line) => line.trim());
  const data = whole.startsWith("CUKASSZA1:")
    ? plain(whole.slice(10).replace(/\s/g, ""))
    : (await Promise.all(lines.map((line, at) => checked(line, at + 1)))).join("");
  const packed = new Blob([unpacked(data)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(packed).text());
}
