/** Which Host headers name this machine or its network, and which a web page may have forged (DNS rebinding). */
import { expect, it } from "vitest";
import { isLocalHost } from "../../src/base/local-host.ts";

it.each([
  "127.0.0.1",
  "10.1.2.3:8080",
  "[::1]",
  "[fd00::1]:8080",
  "localhost",
  "LOCALHOST:1",
  "a.localhost",
  "sandbox:8081",
])("the Host header %j is local", (host) => {
  expect(isLocalHost(host)).toBe(true);
});

it.each([
  undefined,
  "",
  "evil.example",
  "evil.example:8080",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "evillocalhost.example",
  "[evil]",
  "[1.2.3.4]",
  "[::1].evil.example",
  "127.0.0.1:8080:1",
  "a@localhost",
])("the Host header %j is not local", (host) => {
  expect(isLocalHost(host)).toBe(false);
});
