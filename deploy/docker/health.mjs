// The image's health check: 0 where the gateway lives. It asks on loopback, where its own certificate has another name.
import { get } from "node:http";
import { get as getSecure } from "node:https";

const port = process.env.PORT || "8080";
const timeout = 2_000;

/** Whether /healthz answers 200. */
const isAlive = (ask, scheme, options) =>
  new Promise((resolve) => {
    const request = ask(
      `${scheme}://127.0.0.1:${port}/healthz`,
      { timeout, ...options },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });

const alive =
  (await isAlive(get, "http")) ||
  (await isAlive(getSecure, "https", { rejectUnauthorized: false }));
process.exit(alive ? 0 : 1);
