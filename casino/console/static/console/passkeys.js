// Passkeys: the house's challenge goes to the authenticator, and its answer into the form, which is sent as ever.
import { t } from "./words.js";

const csrf = () => document.querySelector('meta[name="csrf"]')?.content || "";
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const base64url = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const named = (credentials) => credentials.map((id) => ({ type: "public-key", id: bytes(id) }));

// What the house has refused, in its own words.
class Refused extends Error {}

async function asked(path, body) {
  const response = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json", "X-CSRFToken": csrf() }, body: JSON.stringify(body),
    credentials: "same-origin", cache: "no-store",
  });
  const found = await response.json();
  if (!response.ok) throw new Refused(found.detail || found.title);
  return found;
}

const common = (found) => ({ challenge: bytes(found.challenge), timeout: found.timeout_seconds * 1000 });

async function signed(found) {
  const { id, response } = await navigator.credentials.get({
    publicKey: {
      ...common(found), rpId: found.host, userVerification: found.user_verification,
      allowCredentials: named(found.credentials),
    },
  });
  return {
    credential: id, client_data: base64url(response.clientDataJSON), signature: base64url(response.signature),
    authenticator_data: base64url(response.authenticatorData),
    user_handle: response.userHandle ? base64url(response.userHandle) : "",
  };
}

async function made(found) {
  const { id, response } = await navigator.credentials.create({
    publicKey: {
      ...common(found), rp: { id: found.host, name: found.house }, attestation: "none",
      user: { id: bytes(found.user), name: found.login, displayName: found.name },
      pubKeyCredParams: found.algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: named(found.credentials),
      authenticatorSelection: {
        residentKey: "required", requireResidentKey: true, userVerification: found.user_verification,
      },
    },
  });
  return {
    credential: id, client_data: base64url(response.clientDataJSON), attestation: base64url(response.attestationObject),
  };
}

const value = (form, name) => form.querySelector(`[data-given="${name}"]`)?.value || "";

// A new passkey takes the password, and a code or another passkey of who has a second factor.
async function begun(form) {
  const given = { password: value(form, "password"), code: value(form, "code") };
  if (form.dataset.other && !given.code) {
    given.passkey = await signed(await asked("/console/do/passkeys/challenge", { purpose: "own" }));
  }
  return asked("/console/do/passkeys/begin", given);
}

async function answered(button) {
  if (button.dataset.passkey === "make") return made(await begun(button.form));
  const path = button.dataset.challenge.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(button.form.elements.namedItem(name).value));
  return signed(await asked(path, JSON.parse(button.dataset.asked || "{}")));
}

const WHY = {
  NotAllowedError: () => t("The passkey was not shown: it took too long, or was given up."),
  InvalidStateError: () => t("This device has a passkey of yours already."),
  SecurityError: () => t("Passkeys work at the house's own address only, over HTTPS."),
};

async function use(button) {
  const said = button.parentElement.querySelector("[data-passkey-said]");
  if (!button.form.reportValidity()) return;
  said.textContent = t("Waiting for the passkey");
  button.disabled = true;
  try {
    button.form.elements.namedItem("passkey").value = JSON.stringify(await answered(button));
    said.textContent = "";
    button.form.requestSubmit();
  } catch (error) {
    said.textContent = error instanceof Refused ? error.message : WHY[error.name]?.() || t("The passkey cannot be used: {why}", { why: error.message });
  } finally {
    button.disabled = false;
  }
}

// Where the browser cannot use passkeys, nothing of them is shown.
export function passkeys() {
  if (!window.PublicKeyCredential) return;
  document.body.dataset.passkeys = "";
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-passkey]");
    if (button) use(button);
  });
}
