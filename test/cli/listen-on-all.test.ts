/**
 * A gateway that listens on all addresses of its machine: callers cannot open that address, so it needs the public address for
 * results.
 */
import { expect, it } from "vitest";
import { checkAddresses } from "../../src/cli/doctor/machine.ts";
import { publicAddressProblem, readEnvironment } from "../../src/cli/environment.ts";

it("HOST for all addresses without TOLLGATE_PUBLIC_URL gets a warning that names where links lead", async () => {
  for (const [HOST, words] of [
    ["0.0.0.0", /name 127\.0\.0\.1 /],
    ["::", /name \[::1\] /],
    ["10.1.2.3", /^$/],
    ["", /^$/],
  ] as const) {
    expect(publicAddressProblem(readEnvironment({ HOST })) ?? "").toMatch(words);
    const named = { HOST, TOLLGATE_PUBLIC_URL: "https://gateway.example.com" };
    expect(publicAddressProblem(readEnvironment(named))).toBeUndefined();
  }
  const [finding] = await checkAddresses(readEnvironment({ HOST: "0.0.0.0" }));
  expect(finding).toMatchObject({ status: "warning", fix: /set TOLLGATE_PUBLIC_URL/ });
});
