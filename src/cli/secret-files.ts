/**
 * Secrets of the environment that are stored in files: `NAME_FILE` names the file of `NAME`, and systemd's credentials are files named
 * after their variable. They are read once, with the environment; their contents are never logged. docs/operate.md "Secrets from
 * files".
 */
import { closeSync, constants, fstatSync, openSync, readSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isSecretVariable } from "../base/secret-variables.ts";
import { UsageError } from "./usage-error.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Service account keys, the longest secrets, have some 3 kB. */
const bytesMax = 65_536;

/** The cloud vendors' libraries read these files themselves, and reread them after changes. */
const ofOthers: ReadonlySet<string> = new Set([
  "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AZURE_FEDERATED_TOKEN_FILE",
]);

/** A secret, the path of its file, and the setting that named the file. */
interface SecretFile {
  readonly name: string;
  readonly path: string;
  /** The name that the operator knows: `NAME_FILE`, or the credential. */
  readonly source: string;
}

function namedFiles(variables: Variables): SecretFile[] {
  return Object.entries(variables).flatMap(([source, path]) => {
    if (!source.endsWith("_FILE") || !path || ofOthers.has(source)) return [];
    const name = source.slice(0, -"_FILE".length);
    return isSecretVariable(name) ? [{ name, path, source }] : [];
  });
}

/** systemd: `LoadCredential=OPENAI_API_KEY:/path`. A credential with the name of a variable is meant for that variable. */
function credentials({ CREDENTIALS_DIRECTORY: directory }: Variables): SecretFile[] {
  if (!directory) return [];
  try {
    return readdirSync(directory)
      .filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name))
      .map((name) => ({ name, path: join(directory, name), source: `the credential ${name}` }));
  } catch (error) {
    throw new UsageError(`CREDENTIALS_DIRECTORY: ${directory} ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "does not exist";
  return code === "EACCES" ? "may not be read by this user" : `cannot be read (${code})`;
}

/** Reads a small file. @throws Error whose message continues the file's name, or an error of the system */
function readSmall(path: string): Buffer {
  // Nonblocking, because opening a pipe would wait for its writer.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error("is no file");
    const bytes = Buffer.alloc(bytesMax + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= bytesMax; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    if (length > bytesMax) throw new Error(`is larger than ${bytesMax / 1024} kB: it is no secret`);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the content of a secret's file, without the line end that editors add. @throws UsageError, which never holds what is in it */
function readSecret({ source, path }: SecretFile): string {
  const refuse = (reason: string): never => {
    throw new UsageError(`${source}: ${path} ${reason}`);
  };
  let bytes: Buffer;
  try {
    bytes = readSmall(path);
  } catch (error) {
    return refuse("code" in (error as object) ? reasonOf(error) : (error as Error).message);
  }
  if (bytes.includes(0)) return refuse("is no text");
  const text = bytes.toString("utf8").replace(/\r?\n$/, "");
  return text === "" ? refuse("is empty") : text;
}

/**
 * Returns the variables, with the secrets from files as if each were set itself.
 * @throws UsageError naming the variable where it is given twice, or its file cannot be read
 */
export function withSecretFiles(variables: Variables): Variables {
  const files = [...namedFiles(variables), ...credentials(variables)];
  if (files.length === 0) return variables;
  const found = new Map<string, SecretFile>();
  for (const file of files) {
    const other = variables[file.name] ? file.name : found.get(file.name)?.source;
    if (other !== undefined)
      throw new UsageError(`${other} and ${file.source} are both set; leave one of them out`);
    found.set(file.name, file);
  }
  const secrets = files.map((file) => [file.name, readSecret(file)] as const);
  return { ...variables, ...Object.fromEntries(secrets) };
}
