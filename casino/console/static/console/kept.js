// What a tab keeps until the house has answered. It is sealed (AES-GCM) under a key that only pages of the same person
// at the same terminal have: what is left in a browser says nothing to the next person, or to who reads its files. A
// browser without WebCrypto, as over plain HTTP, keeps it as long as the page is open.
const memory = new Map();
const turns = new Map();
const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
const text = (from) => btoa(Array.from(new Uint8Array(from), (one) => String.fromCharCode(one)).join(""));
let opened;

function key() {
  const given = document.querySelector('meta[name="kept"]')?.content;
  if (!given || !crypto.subtle) return null;
  opened ||= crypto.subtle.importKey("raw", bytes(given), "AES-GCM", false, ["encrypt", "decrypt"]);
  return opened;
}

// What was kept or dropped under a name meanwhile counts, not what was sealed for longer.
function turn(name) {
  turns.set(name, (turns.get(name) || 0) + 1);
  return turns.get(name);
}

const how = (name, iv) => ({ name: "AES-GCM", iv, additionalData: new TextEncoder().encode(name) });

export async function keep(name, value) {
  const mine = turn(name);
  memory.set(name, value);
  const with_ = await key();
  if (!with_) return;
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const sealed = await crypto.subtle.encrypt(how(name, iv), with_, new TextEncoder().encode(JSON.stringify(value)));
  if (turns.get(name) === mine) sessionStorage.setItem(name, `${text(iv)}.${text(sealed)}`);
}

export async function kept(name) {
  if (memory.has(name)) return memory.get(name);
  const found = sessionStorage.getItem(name);
  const with_ = found && await key();
  if (!with_) return null;
  const [iv, sealed] = found.split(".").map(bytes);
  try {
    return JSON.parse(new TextDecoder().decode(await crypto.subtle.decrypt(how(name, iv), with_, sealed)));
  } catch {
    // The keys of the house were exchanged, or it was kept at another terminal: nobody can read it any more.
    drop(name);
    return null;
  }
}

export function drop(name) {
  turn(name);
  memory.delete(name);
  sessionStorage.removeItem(name);
}

export const names = (beginning) => Object.keys(sessionStorage).filter((one) => one.startsWith(beginning));
