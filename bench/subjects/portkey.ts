/**
 * The gateway `@portkey-ai/gateway` from npm, installed on demand into a cache directory beside the packages. It is not a dependency
 * of the project. It has no keys, money or log: it only routes and converts.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { startProcess } from "./process.ts";
import { endpointPaths, upstreamBase, type Candidate } from "./types.ts";

const version = "1.15.2";
const name = `Portkey ${version}`;
/** With later versions of this package its streams fail ("immutable"); Portkey requires it without an upper bound. */
const overrides = { "@hono/node-server": "1.14.0" };
const run = promisify(execFile);

/** Installs it if it is missing. `root` is the project's directory. @throws Error with npm's output */
export async function portkey(root: string, signal: AbortSignal): Promise<Candidate> {
  const home = join(root, "node_modules/.cache/tollgate-bench", `portkey-${version}`);
  const program = join(home, "node_modules/@portkey-ai/gateway/build/start-server.js");
  if (!existsSync(program)) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, overrides }));
    const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    await run("npm", ["install", ...flags, `@portkey-ai/gateway@${version}`], {
      cwd: home,
      signal,
    });
  }
  return {
    name,
    async start({ upstreamUrl }) {
      const port = await freePort();
      const started = await startProcess([program, `--port=${port}`, "--headless"], {
        cwd: home,
        ready: /http:\/\/localhost:\d+|ready/i,
        // It accepts addresses of this machine only if they are listed.
        env: {
          ...process.env,
          NODE_ENV: "production",
          TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost",
        },
      });
      return {
        name,
        url: `http://127.0.0.1:${port}`,
        pid: started.pid,
        route: (scenario) =>
          scenario.endpoint === "chat" && scenario.keys === "one"
            ? {
                path: `/v1${endpointPaths.chat}`,
                model: "bench-large",
                headers: [
                  {
                    authorization: "Bearer none",
                    "x-portkey-provider": scenario.conversion === "direct" ? "openai" : "anthropic",
                    "x-portkey-custom-host": upstreamBase(upstreamUrl, scenario),
                  },
                ],
              }
            : undefined,
        close: started.stop,
      };
    },
  };
}

/** Returns a port that was free a moment ago: Portkey does not accept port 0. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
