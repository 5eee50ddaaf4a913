/** nginx, where it is installed: with a test's configuration, or with the examples of deploy/. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { eventually } from "./patience.ts";
import { temporaryDirectory } from "./postgres.ts";
import { listenOnLoopback } from "./loopback.ts";

const deploy = new URL("../../deploy", import.meta.url).pathname;

export const hasNginx = spawnSync("nginx", ["-v"]).status === 0;

/** A port on which no process listens now. */
export async function freePort(): Promise<number> {
  const server = createTcpServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Writes a configuration with this `http` content, and with folders that nginx may write to. Returns its path. */
export function writeNginx(http: string): string {
  const directory = temporaryDirectory();
  const place = (name: string): string => {
    mkdirSync(join(directory, name), { recursive: true });
    return join(directory, name);
  };
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const file = join(directory, "nginx.conf");
  writeFileSync(
    file,
    `daemon off; pid ${directory}/pid; error_log ${directory}/error.log;
     events {}
     http {
       access_log off;
       ${paths.map((name) => `${name}_temp_path ${place(name)};`).join(" ")}
       ${http}
     }`,
  );
  return file;
}

/** A file of deploy/ with replaced texts, each of which must occur in it. Includes point into the checkout. */
export function exampleOf(path: string, changes: Readonly<Record<string, string>>): string {
  const include = "/etc/nginx/tollgate-proxy.conf";
  let text = readFileSync(join(deploy, path), "utf8");
  const all = { ...changes, [include]: join(deploy, "nginx/tollgate-proxy.conf") };
  for (const [from, to] of Object.entries(all)) {
    if (!text.includes(from)) throw new Error(`${path} does not say ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

export interface Nginx {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts nginx on `port` of loopback. It is ready when it passes /healthz on, or answers 404 there. */
export async function startNginx(http: string, port: number): Promise<Nginx> {
  const file = writeNginx(http);
  const child = spawn("nginx", ["-c", file, "-e", join(file, "../error.log")], {
    stdio: "inherit",
  });
  const gone = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/healthz`).then(
      ({ status }) => status === 200 || status === 404,
      () => false,
    );
  await eventually(answers, "nginx");
  return {
    url,
    async close() {
      child.kill("SIGTERM");
      await gone;
      // A refused connection is expected: nginx then asks the next gateway.
      const said = readFileSync(join(file, "../error.log"), "utf8").split("\n");
      for (const line of said)
        if (line.includes("[error]") && !line.includes("Connection refused")) console.log(line);
    },
  };
}
