/** `tollgate doctor` beside a gateway that does not answer it. docs/operate.md "Doctor". */
import { once } from "node:events";
import { createServer as createSecure } from "node:https";
import { createServer, type AddressInfo, type Server } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { announceAddress } from "../../src/cli/address.ts";
import { checkAddresses } from "../../src/cli/doctor/machine.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { makeCertificate } from "../support/certificate.ts";
import { temporaryDirectory } from "../support/postgres.ts";

/** The row of the gateway that `server` stands for. */
async function rowOf(server: Server, scheme: string, msMax?: number) {
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const environment = readEnvironment({ TOLLGATE_DATA_DIR: temporaryDirectory() });
  announceAddress(environment, `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const findings = await checkAddresses(environment, msMax);
  return findings.find(({ check }) => check === "gateway");
}

it("a gateway that takes connections and does not answer has failed", async () => {
  const silent = createServer((socket) => onTestFinished(() => void socket.destroy()));
  expect(await rowOf(silent, "http", 200)).toMatchObject({
    status: "failed",
    message: expect.stringMatching(/^http:\S+ does not answer$/) as string,
  });
});

it("a gateway that requires client certificates is not said to be absent", async () => {
  const tls = makeCertificate(["localhost"]);
  const options = { ...tls, ca: tls.cert, requestCert: true, rejectUnauthorized: true };
  expect(
    await rowOf(
      createSecure(options, (_, answer) => answer.end("{}")),
      "https",
    ),
  ).toMatchObject({
    status: "ok",
    message: expect.stringMatching(/calls only with a client certificate$/) as string,
  });
});
