/** The directory of the embedded server's socket if its path is too long for a socket and an open file cannot replace it: macOS. */
import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import type { Site } from "../../src/embedded/programs.ts";
import { prepareTransport } from "../../src/embedded/transport.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const platform = Object.getOwnPropertyDescriptor(process, "platform")!;
afterEach(() => {
  Object.defineProperty(process, "platform", platform);
  vi.unstubAllEnvs();
});

it.skipIf(process.platform === "win32")(
  "a socket with a too long path is reached by a link, which is removed when the server stops",
  async () => {
    const directory = join(temporaryDirectory(), "long".repeat(30));
    const temporary = temporaryDirectory();
    mkdirSync(directory);
    vi.stubEnv("TMPDIR", temporary);
    Object.defineProperty(process, "platform", { ...platform, value: "darwin" });
    const home = { path: directory, childPath: () => directory, file: undefined, close() {} };
    const site: Site = { binaries: { directory: "", major: 18 }, identity: undefined, home };
    const transport = await prepareTransport(site, directory);
    const { socketDir } = transport.listen as { socketDir: string };
    expect(Buffer.byteLength(join(socketDir, ".s.PGSQL.5432"))).toBeLessThanOrEqual(103);
    expect(lstatSync(socketDir).isSymbolicLink()).toBe(true);
    expect(realpathSync(socketDir)).toBe(realpathSync(join(directory, "socket")));
    transport.close();
    expect(readdirSync(temporary)).toEqual([]);
    expect(existsSync(join(directory, "socket"))).toBe(true);
  },
);
