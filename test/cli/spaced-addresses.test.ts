/**
 * Addresses in variables with white space around them, as env files and editors leave it. A URL ignores the white space, and so do the
 * checks; what is built from the text must ignore it too. docs/operate.md "Environment".
 */
import { expect, it } from "vitest";
import { proxiesOf } from "../../src/base/proxy.ts";
import {
  defaultSettings,
  environmentCatalog,
  localProviders,
  presetMistakes,
} from "../../src/catalog/index.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { tracingOptions } from "../../src/cli/telemetry.ts";

const spaced = (address: string): string => ` ${address}\t\n`;

it("the database's and the public address lose it, so that no name and no link contains it", () => {
  const url = "postgres://tollgate:secret@db.internal/tollgate";
  const environment = readEnvironment({
    DATABASE_URL: spaced(url),
    DATABASE_READ_URL: spaced(url),
    TOLLGATE_PUBLIC_URL: spaced("https://gateway.example.com"),
  });
  expect(environment).toMatchObject({
    databaseUrl: url,
    databaseReadUrl: url,
    publicUrl: "https://gateway.example.com",
  });
});

it("a public address in capitals is an encrypted one, whose cookies are Secure", () => {
  const { publicUrl } = readEnvironment({ TOLLGATE_PUBLIC_URL: "HTTPS://Gateway.example.com" });
  expect(publicUrl).toBe("https://Gateway.example.com");
});

it("a proxy keeps its port", () => {
  const proxies = proxiesOf({ HTTPS_PROXY: spaced("http://proxy.example:3128") });
  expect(proxies.to(new URL("https://api.example.com"))).toMatchObject({
    shown: "http://proxy.example:3128",
    port: 3128,
  });
});

it("a collector of traces is sent to its own path", () => {
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: spaced("http://collector:4318") };
  expect(tracingOptions(variables, defaultSettings)?.url).toBe("http://collector:4318/v1/traces");
});

it("vendors and local servers are called at their own paths", () => {
  const variables = {
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: spaced("https://proxy.example/v1"),
    VLLM_BASE_URL: spaced("http://127.0.0.1:8000/"),
  };
  expect(presetMistakes(variables)).toEqual([]);
  const { providers } = environmentCatalog(variables);
  expect(providers.get("openai")?.baseUrl).toBe("https://proxy.example/v1");
  expect(localProviders(variables)[0]?.baseUrl).toBe("http://127.0.0.1:8000/v1");
});
