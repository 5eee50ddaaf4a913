/**
 * For `npm run bench -- --http`: a gateway started with `--import` of this file runs without the parts of our own HTTP that
 * `BENCH_WITHOUT` names (`front`, `client`). Their modules are replaced while they are loaded, so the gateway needs no switch.
 */
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

const parts: Readonly<Record<string, readonly [ours: string, instead: string]>> = {
  front: ["../../src/http/front/fast/index.ts", "./no-front.ts"],
  client: ["../../src/upstream/http1/pool.ts", "./undici-pool.ts"],
};

const replaced = new Map<string, string>();
for (const part of (process.env["BENCH_WITHOUT"] ?? "").split(",").filter(Boolean)) {
  const [ours, instead] = parts[part]!.map((path) => new URL(path, import.meta.url).href);
  // Without this check, a module that has moved would be compared with itself.
  if (!existsSync(fileURLToPath(ours!))) throw new Error(`${ours} is not there to be replaced`);
  replaced.set(ours!, instead!);
}

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const instead = replaced.get(found.url);
    return instead === undefined ? found : { ...found, url: instead };
  },
});
