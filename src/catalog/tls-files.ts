/**
 * The files of a provider's `tls` and of the gateway's own. They are read once per configuration, so that the checked contents are
 * the ones used. Mistakes name the file and the problem, and never quote the contents.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { dayText } from "../base/days.ts";
import { isObject, type WireObject } from "../base/json.ts";
import { getOrCreate } from "../base/memoize.ts";
import { parseProxy } from "../base/proxy.ts";
import type { TlsRow } from "./access-schema.ts";
import type { ProviderTls } from "./access.ts";
import type { Finding, Path } from "./mistakes.ts";
import type { ServerTlsRow } from "./settings-schema.ts";

const fileBytesMax = 1024 * 1024;

/** Caches files as they were at the first read. */
export class TlsFiles {
  readonly #folder: string;
  readonly #known = new Map<string, string | Error>();

  /** Relative paths are below `folder`. */
  constructor(folder = process.cwd()) {
    this.#folder = folder;
  }

  /** The absolute path of a file. */
  pathOf(path: string): string {
    return resolve(this.#folder, path);
  }

  /** The text of a file. @throws Error with a message that continues its name */
  read(path: string): string {
    const known = getOrCreate(this.#known, path, () => this.#load(path));
    if (typeof known !== "string") throw known;
    return known;
  }

  #load(path: string): string | Error {
    try {
      const text = readFileSync(this.pathOf(path), "latin1");
      return text.length <= fileBytesMax ? text : new Error("is no PEM file: it is too long");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return new Error("does not exist");
      return new Error(`cannot be read (${code ?? "unknown"})`);
    }
  }

  /** The contents of all files that were read, to detect changes. */
  get contents(): string {
    return JSON.stringify([...this.#known].map(([path, text]) => [path, String(text)]));
  }

  /** True if the files that were read still have the same text. */
  isCurrent(): boolean {
    return [...this.#known].every(([path, text]) => String(this.#load(path)) === String(text));
  }
}

/** The gateway's certificate for its callers, and the authorities for client certificates. */
export interface ServerTls {
  /** PEM texts. */
  readonly cert: string;
  readonly key: string;
  /** The expiry of the certificate, in Unix milliseconds. */
  readonly expiresMs: number;
  /** The authorities of client certificates; absent: clients need none. */
  readonly clientCa: string | undefined;
  /** The paths of the files. */
  readonly files: ServerTlsRow;
}

/** The TLS settings of `server.tls`, which was checked before. */
export function serverTlsOf(row: ServerTlsRow, from: TlsFiles): ServerTls {
  const cert = from.read(row.cert);
  const [own] = certificatesIn(cert);
  return {
    cert,
    key: from.read(row.key),
    expiresMs: Date.parse(own!.validTo),
    clientCa: row.client_ca === undefined ? undefined : from.read(row.client_ca),
    files: row,
  };
}

/** The TLS settings of a provider's row, which was checked before. */
export function tlsOf(row: TlsRow | undefined, from: TlsFiles): ProviderTls | undefined {
  if (row === undefined) return undefined;
  const read = (path: string | undefined) => (path === undefined ? undefined : from.read(path));
  const { server_name: serverName, ...files } = row;
  const [ca, cert, key] = [row.ca, row.cert, row.key].map(read);
  return { ca, cert, key, serverName, files };
}

const certificates = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text. @throws Error with a message that continues the file's name */
function certificatesIn(text: string): X509Certificate[] {
  const found = text.match(certificates) ?? [];
  if (found.length < text.split("-----BEGIN CERTIFICATE-----").length - 1)
    throw new Error("holds a certificate that is cut off");
  if (found.length === 0) throw new Error("holds no certificate in PEM form");
  try {
    return found.map((pem) => new X509Certificate(pem));
  } catch {
    throw new Error("holds a certificate that cannot be read");
  }
}

/** @throws Error if TLS refuses to present readable certificates, such as those of a short key */
function checkUse(cert: string): void {
  try {
    createSecureContext({ cert });
  } catch (error) {
    const { reason = "unknown" } = error as { reason?: string };
    throw new Error(`cannot be used (${reason})`, { cause: error });
  }
}

function privateKeyIn(text: string) {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new Error("holds no private key in PEM form");
  try {
    return createPrivateKey(text);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ERR_MISSING_PASSPHRASE" || /ENCRYPTED/.test(text))
      throw new Error("is locked with a passphrase", { cause: error });
    throw new Error("holds a private key that cannot be read", { cause: error });
  }
}

/** @throws Error if a certificate has expired or is not valid yet */
function checkDates({ validFrom, validTo }: X509Certificate, nowMs: number): void {
  if (Date.parse(validTo) < nowMs) throw new Error(`expired on ${dayText(Date.parse(validTo))}`);
  if (Date.parse(validFrom) > nowMs)
    throw new Error(`is not valid before ${dayText(Date.parse(validFrom))}`);
}

const fixes = {
  ca: "name a PEM file of the authority's certificates",
  client_ca: "name a PEM file of the certificates of the clients' authority",
  cert: "name a PEM file of the gateway's certificate",
  key: "name a PEM file of the certificate's private key, without a passphrase",
} as const;

/** Finds every mistake in the files of `tls`, for a provider's row or for `server`. */
export function checkTls(row: WireObject, path: Path, files: TlsFiles): Finding[] {
  const { tls } = row;
  if (!isObject(tls)) return [];
  const at = [...path, "tls"];
  const findings: Finding[] = [];
  const nowMs = Date.now();
  const check = <T>(name: keyof typeof fixes, work: (text: string) => T): T | undefined => {
    const file = tls[name];
    if (typeof file !== "string" || file === "") return undefined;
    if (file.includes("-----BEGIN")) {
      // The message does not quote it: it may be the private key.
      const message = "is the text of a PEM file, and not its name";
      findings.push({ path: [...at, name], message, fix: fixes[name] });
      return undefined;
    }
    try {
      return work(files.read(file));
    } catch (error) {
      const message = `"${file}" ${(error as Error).message}`;
      findings.push({ path: [...at, name], message, fix: fixes[name] });
      return undefined;
    }
  };
  for (const authorities of ["ca", "client_ca"] as const)
    check(authorities, (text) => {
      const all = certificatesIn(text);
      // Bundles contain expired certificates too; one valid certificate is enough.
      const isGood = all.some(({ validTo }) => Date.parse(validTo) >= nowMs);
      if (!isGood) checkDates(all[0]!, nowMs);
    });
  const own = check("cert", (text) => {
    const [first] = certificatesIn(text);
    checkDates(first!, nowMs);
    checkUse(text);
    return first!;
  });
  const key = check("key", privateKeyIn);
  if (own && key && !own.checkPrivateKey(key)) {
    const message = `"${String(tls["key"])}" is not the key of "${String(tls["cert"])}"`;
    findings.push({ path: [...at, "key"], message, fix: fixes.key });
  }
  for (const [name, partner] of [
    ["cert", "key"],
    ["key", "cert"],
  ] as const)
    if (tls[name] !== undefined && tls[partner] === undefined)
      findings.push({ path: [...at, partner], message: "missing", fix: `${name} needs it` });
  return findings;
}

/** The mistakes in a provider's `proxy`. Messages do not quote it: it may contain a password. */
export function checkProxy({ proxy }: WireObject, path: Path): Finding[] {
  if (typeof proxy !== "string" || proxy === "none" || proxy === "") return [];
  try {
    parseProxy(proxy);
    return [];
  } catch (error) {
    const [message = "", fix = ""] = (error as Error).message.split("; it takes ");
    return [{ path: [...path, "proxy"], message, fix: `write ${fix}, or none` }];
  }
}
