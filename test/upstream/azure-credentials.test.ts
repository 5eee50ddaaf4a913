/** Tokens of Entra ID: why none could be fetched. docs/azure.md. */
import { expect, it } from "vitest";
import { azureToken } from "../../src/upstream/identity/azure.ts";

it("the error for a server of tokens that cannot be reached names the server and the reason", async () => {
  const client = { tenantId: "t", clientId: "c", clientSecret: "secret-of-the-client" };
  const auth = {
    type: "azure",
    scope: "s/.default",
    authorityHost: "https://127.0.0.1:9",
  } as const;
  await expect(azureToken({ ...auth, ...client }, new AbortController().signal)).rejects.toThrow(
    /127\.0\.0\.1:9.*ECONNREFUSED/,
  );
});
