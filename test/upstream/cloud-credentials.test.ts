/** Credentials of clouds as their vendors' libraries give them: how long they are used, and when they are read again. */
import { generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import { hourMs } from "../../src/base/durations.ts";
import { googleHeaders } from "../../src/upstream/identity/google.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const account = JSON.stringify({
  type: "service_account",
  client_email: "gateway@project.iam.gserviceaccount.com",
  private_key_id: "k",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
});

it("a token that a service account signed itself is used until the date in it, not signed anew for each call", async () => {
  const { expiresMs } = await googleHeaders({ type: "google", serviceAccountKey: account });
  expect(expiresMs - Date.now()).toBeGreaterThan(hourMs / 2);
  expect(expiresMs - Date.now()).toBeLessThanOrEqual(hourMs + 1000);
});
