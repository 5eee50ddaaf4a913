/** Mistakes in options of the commands on the management API: the error names the option that was typed, not the API's field. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

const TOLLGATE_ADMIN_TOKEN = "admin-token-of-this-test";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway({ environment: { TOLLGATE_ADMIN_TOKEN } });
});
afterAll(() => gateway.close());

const lowest = "it takes an amount in USD from 0, such as 25.00";

it.each([
  ["keys create --name a --monthly-cap -5", `--monthly-cap is "-5"; ${lowest}`],
  ["keys create --name a --daily-cap=-0.01", `--daily-cap is "-0.01"; ${lowest}`],
  ["keys create --name a --total-cap 99999999999", "--total-cap does not fit: A decimal amount of"],
  ["keys create --name a --cache-seconds 9999999", "--cache-seconds must be <= 2592000."],
  ["keys create --name ", "--name is required."],
  ["workspaces set WORKSPACE --credit-line -1", `--credit-line is "-1"; ${lowest}`],
  ["workspaces set WORKSPACE --low-balance-alert -1", `--low-balance-alert is "-1"; ${lowest}`],
  ["workspaces set WORKSPACE --low-balance-alert 9000000000", "--low-balance-alert must be from 0"],
  [`credits add 1 --note ${"x".repeat(501)}`, "--note must not have more than 500 characters."],
  ["requests list --status bad", "--status must be one or more of these"],
  // The address is no option.
  ["members add nope", "`email` must be an e-mail address."],
])("%s", async (words, told) => {
  const named = words.replace("WORKSPACE", gateway.workspaceId);
  const { code, stderr } = await tollgateHere([...named.split(" "), "--url", gateway.url], {
    TOLLGATE_ADMIN_TOKEN,
  });
  expect({ code, stderr }).toMatchObject({ code: 2 });
  expect(stderr).toContain(`tollgate: ${told}`);
});
