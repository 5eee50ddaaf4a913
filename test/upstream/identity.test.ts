/** The token that a refused request carried is dropped, and no other one. docs/azure.md. */
import { expect, it } from "vitest";
import { areKeysRefused } from "../../src/upstream/identity/aws.ts";
import { createIdentity } from "../../src/upstream/identity/index.ts";
import { provider } from "./media-support.ts";

const cloud = provider("azure", "https://cloud.example/v1");
const target = { origin: "https://cloud.example", path: "/v1/x", headers: {} };

/** An identity whose tokens are numbered, with their lifetimes. */
function counting(lifeMs: (fetches: number) => number) {
  let fetches = 0;
  const identity = createIdentity<string>({
    name: "a cloud",
    load: () => Promise.resolve(),
    fetch: () => {
      fetches += 1;
      return Promise.resolve({
        value: `token-${fetches}`,
        expiresMs: Date.now() + lifeMs(fetches),
      });
    },
    secrets: (token) => [token],
    headers: (token) => ({ authorization: token }),
  });
  return { authorize: () => identity.authorize(cloud, target, "") };
}

it("a late 401 for an expired token does not drop the new one", async () => {
  const { authorize } = counting((fetches) => (fetches === 1 ? 0 : 3_600_000));
  const old = await authorize();
  const fresh = await authorize();
  expect(fresh.headers).toEqual({ authorization: "token-2" });
  old.answered({ status: 401, headers: {} });
  expect((await authorize()).headers).toEqual(fresh.headers);
  fresh.answered({ status: 403, headers: {} });
  expect((await authorize()).headers).toEqual(fresh.headers);
  fresh.answered({ status: 401, headers: {} });
  expect((await authorize()).headers).toEqual({ authorization: "token-3" });
});

it.each([
  ["ExpiredTokenException", 403, true],
  ["UnrecognizedClientException:http://internal.amazon.com/coral/", 403, true],
  ["InvalidSignatureException", 403, true],
  [undefined, 403, true],
  [undefined, 401, true],
  ["AccessDeniedException", 403, false],
  ["AccessDeniedException:http://internal.amazon.com/coral/", 403, false],
  ["ThrottlingException", 429, false],
])("AWS keys that an answer with %s and %d refuses are dropped: %s", (errorType, status, is) => {
  const headers = errorType === undefined ? {} : { "x-amzn-errortype": errorType };
  expect(areKeysRefused({ status, headers })).toBe(is);
});
