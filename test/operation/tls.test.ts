/**
 * NODE_EXTRA_CA_CERTS and NODE_USE_SYSTEM_CA: an upstream with a certificate of a private authority is reached only with one of
 * them.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { preparedDataDir } from "../support/postgres.ts";
import { chat, keyOf, start, useDirectory } from "./support.ts";
import { hasOpenssl } from "../support/openssl.ts";

const directory = useDirectory();
const at = (name: string): string => join(directory, name);

/** Makes an authority, and a certificate that it signs for 127.0.0.1. */
function makeCertificates(): void {
  const openssl = (...args: string[]): void =>
    void execFileSync("openssl", args, { cwd: directory, stdio: "ignore" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl(
    "req",
    "-x509",
    ...key,
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
    "-days",
    "2",
    "-subj",
    "/CN=Test CA",
  );
  openssl("req", ...key, "-keyout", "up.key", "-out", "up.csr", "-subj", "/CN=127.0.0.1");
  writeFileSync(at("names.cnf"), "subjectAltName=IP:127.0.0.1\n");
  const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
  openssl(
    "x509",
    "-req",
    "-in",
    "up.csr",
    ...by,
    "-out",
    "up.pem",
    "-days",
    "2",
    "-extfile",
    "names.cnf",
  );
}

describe.skipIf(!hasOpenssl())(
  "an upstream with a certificate of a private authority (needs openssl)",
  () => {
    let upstream: Server;
    let environment: Record<string, string>;
    let key = "";

    beforeAll(async () => {
      makeCertificates();
      const certificate = { key: readFileSync(at("up.key")), cert: readFileSync(at("up.pem")) };
      upstream = createServer(certificate, (request, response) => {
        request.resume().on("end", () => {
          response.writeHead(200, { "content-type": "application/json" }).end(
            JSON.stringify({
              id: "c",
              object: "chat.completion",
              created: 1,
              model: "m",
              choices: [
                { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" },
              ],
              usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
            }),
          );
        });
      });
      await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
      const { port } = upstream.address() as AddressInfo;
      writeFileSync(
        at("tollgate.yaml"),
        `
providers:
  - { id: up, dialect: openai, base_url: "https://127.0.0.1:${port}/v1", api_key: x, tier: official }
models:
  - id: acme/talk
    kind: text
    endpoints: [chat_completions]
    context_length: 100000
    max_output_tokens: 1000
    offers: [{ provider: up, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }]
`,
      );
      environment = {
        TOLLGATE_DATA_DIR: await preparedDataDir(),
        TOLLGATE_CONFIG: at("tollgate.yaml"),
        TOLLGATE_LOG_LEVEL: "warn",
      };
    });
    afterAll(() => {
      upstream?.close();
    });

    it("is refused without that authority, in an error that blames the provider", async () => {
      const gateway = await start(environment);
      key = keyOf(gateway);
      await tollgateHere(["credits", "add", "5"], environment);
      expect(await chat(gateway.url, key, "acme/talk")).toBe("502 upstream_error");
      await gateway.stop();
    });

    it.each([
      ["named by NODE_EXTRA_CA_CERTS", { NODE_EXTRA_CA_CERTS: "ca.pem" }, {}],
      ["the system's", { SSL_CERT_FILE: "ca.pem" }, { NODE_USE_SYSTEM_CA: "1" }],
    ])("is reached with that authority: %s", async (_, files, rest) => {
      const named = Object.entries(files).map(([name, file]) => [name, at(file)]);
      const gateway = await start({ ...environment, ...Object.fromEntries(named), ...rest });
      expect(await chat(gateway.url, key, "acme/talk")).toBe("200 ok");
      await gateway.stop();
    });
  },
);
