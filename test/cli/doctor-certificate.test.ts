/** `tollgate doctor` on the gateway's own certificate. docs/operate.md "Doctor", "TLS". */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { announceAddress, possibleAddresses } from "../../src/cli/address.ts";
import { checkAddresses } from "../../src/cli/doctor/machine.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { makeCertificate } from "../support/certificate.ts";
import { temporaryDirectory } from "../support/postgres.ts";

/** The row of a gateway whose certificate is valid for `days` more days. */
async function rowOf(days: number) {
  const tls = makeCertificate(["localhost"], { days: [-60, days] });
  const server = createServer(tls, (_, answer) => answer.end("{}")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const environment = readEnvironment({ TOLLGATE_DATA_DIR: temporaryDirectory() });
  announceAddress(environment, `https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const findings = await checkAddresses(environment);
  return findings.find(({ check }) => check === "gateway");
}

it.each([
  [30.5, "ok", /takes calls with a certificate, good for 30 more days$/],
  [3.5, "warning", /takes calls with a certificate, good for 3 more days$/],
  [-1, "failed", /takes calls with a certificate, which expired: /],
] as const)("a certificate of the gateway with %s days left: %s", async (days, status, message) => {
  expect(await rowOf(days)).toMatchObject({
    status,
    message: expect.stringMatching(message) as string,
  });
});

it("a gateway with its own TLS is not asked over plain HTTP as well, since that logs a failed handshake", () => {
  const variables = {
    TOLLGATE_DATA_DIR: temporaryDirectory(),
    DATABASE_URL: "postgres://root:hunter2@127.0.0.1:1/books",
    HOST: "127.0.0.1",
    PORT: "8443",
  };
  const environment = readEnvironment(variables);
  announceAddress(environment, "https://127.0.0.1:8443");
  expect(possibleAddresses(environment)).toEqual(["https://127.0.0.1:8443"]);
  announceAddress(environment, "https://127.0.0.1:9443");
  expect(possibleAddresses(environment)).toEqual([
    "https://127.0.0.1:9443",
    "http://127.0.0.1:8443",
  ]);
});
