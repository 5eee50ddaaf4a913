/** `hooks` of the configuration file: their values, and checks that a schema cannot express. docs/hooks.md. */
import { existsSync } from "node:fs";
import { isObject } from "../base/json.ts";
import type { HookEndpoint, HookRow } from "./hooks-schema.ts";
import type { Finding } from "./mistakes.ts";
import { rowsAt, type Row } from "./rows.ts";
import type { TlsFiles } from "./tls-files.ts";

const timeoutMsDefault = { before: 2_000, after: 10_000 } as const;

/** One hook of the file, with defaults filled in. */
export interface HookSettings {
  readonly name: string;
  readonly at: "before" | "after";
  readonly target:
    | { readonly url: string; readonly secret: string }
    /** `path` is absolute; `module` is the file's own spelling. */
    | { readonly module: string; readonly path: string };
  /** Absent: all. */
  readonly endpoints?: readonly HookEndpoint[] | undefined;
  readonly workspaces?: readonly string[] | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly onFailure: "allow" | "refuse";
}

export const hooksOf = (rows: readonly HookRow[] | undefined, files: TlsFiles): HookSettings[] =>
  (rows ?? []).map((row) => ({
    name: row.name,
    at: row.at,
    target:
      row.module === undefined
        ? { url: row.url!, secret: row.secret! }
        : { module: row.module, path: files.pathOf(row.module) },
    endpoints: row.endpoints,
    workspaces: row.workspaces,
    keys: row.keys,
    timeoutMs: row.timeout_ms ?? timeoutMsDefault[row.at],
    onFailure: row.on_failure ?? "refuse",
  }));

/** A hook as a row of the file; `mask` hides the secret. */
export const hookRow = (hook: HookSettings, mask: (secret: string) => string) => ({
  name: hook.name,
  at: hook.at,
  ...("url" in hook.target
    ? { url: hook.target.url, secret: mask(hook.target.secret) }
    : { module: hook.target.module }),
  endpoints: hook.endpoints && [...hook.endpoints],
  workspaces: hook.workspaces && [...hook.workspaces],
  keys: hook.keys && [...hook.keys],
  timeout_ms: hook.timeoutMs,
  ...(hook.at === "before" && { on_failure: hook.onFailure }),
});

/** Checks of the file's hooks that the schema cannot express. */
export function checkHooks(file: unknown, files: TlsFiles): Finding[] {
  if (!isObject(file)) return [];
  const rows = rowsAt(file, "hooks", []);
  const names = rows.map(({ row }) => row["name"]);
  return rows.flatMap(({ path, row }, index): Finding[] => [
    ...(typeof row["name"] === "string" && names.indexOf(row["name"]) !== index
      ? [
          {
            path: [...path, "name"],
            message: `the hook "${row["name"]}" is already there`,
            fix: "give each its own name",
          },
        ]
      : []),
    ...checkTarget({ path, row }, files),
    ...(row["at"] === "after" && row["on_failure"] !== undefined
      ? [
          {
            path: [...path, "on_failure"],
            atKey: true,
            message: "a hook after the call cannot stop it",
            fix: "leave on_failure out, or write at: before",
          },
        ]
      : []),
  ]);
}

function checkTarget({ path, row }: Row, files: TlsFiles): Finding[] {
  const { url, module, secret } = row;
  const finding = (field: string, message: string, fix: string): Finding[] => [
    { path: [...path, field], message, fix },
  ];
  if (url === undefined && module === undefined)
    return finding("url", "missing", "give url, or module");
  if (url !== undefined && module !== undefined)
    return finding("module", "url and module exclude each other", "keep one of them");
  if (url !== undefined) {
    if (secret === undefined)
      return finding("secret", "missing", "make one: echo whsec_$(openssl rand -base64 32)");
    return typeof url === "string" && /^https?:/.test(url) && !URL.canParse(url)
      ? finding("url", "is not an address", "write https://host/path")
      : [];
  }
  if (secret !== undefined)
    return finding("secret", "a module is sent no requests", "leave secret out");
  return typeof module === "string" && module !== "" && !existsSync(files.pathOf(module))
    ? finding(
        "module",
        `${module} does not exist`,
        "name a file; a relative one is beside this file",
      )
    : [];
}
