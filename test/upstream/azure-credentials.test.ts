/** Tokens of Entra ID: why none could be fetched, and whom an added provider may ask. docs/azure.md. */
import { expect, it } from "vitest";
import { azureToken } from "../../src/upstream/identity/azure.ts";
import { identityOf, keepOnly } from "../../src/upstream/identity/index.ts";
import { createPools } from "../../src/upstream/index.ts";
import { provider } from "./media-support.ts";

const auth = {
  type: "azure",
  scope: "s/.default",
  tenantId: "t",
  clientId: "c",
  clientSecret: "secret-of-the-client",
  authorityHost: "https://127.0.0.1:9",
} as const;

it("the error for a server of tokens that cannot be reached names the server and the reason", async () => {
  const { signal } = new AbortController();
  await expect(azureToken(auth, { signal })).rejects.toThrow(/127\.0\.0\.1:9.*ECONNREFUSED/);
});

it("T77: an added provider's server of tokens is asked at public addresses only", async () => {
  const pools = createPools();
  const access = { auth, headers: {}, query: {}, paths: {}, request: { add: {}, remove: [] } };
  const added = { ...provider("azure", "https://8.8.8.8/openai/v1"), guarded: true, access };
  await expect(identityOf(added, pools)!.keep()).rejects.toThrow(
    "points at a private or reserved network",
  );
  keepOnly(new Set(), pools);
  await pools.close();
});
