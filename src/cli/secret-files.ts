/**
 * Secrets of the environment that stand in files: `NAME_FILE` names the file of `NAME`, and systemd's credentials are files
 * named after their variable. Read once, with the environment; what is in a file is never logged. docs/operate.md "Secrets
 * from files".
 */
import { closeSync, constants, fstatSync, openSync, readSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isSecretVariable } from "../base/secret-variables.ts";
import { UsageError } from "./usage-error.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Service account keys, the longest, have some 3 kB. */
const bytesMax = 65_536;

/** The cloud vendors' libraries read these files by themselves, and again when they change. */
const ofOthers: ReadonlySet<string> = new Set([
  "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AZURE_FEDERATED_TOKEN_FILE",
]);

/** Where each secret's file is, and what named it. */
interface SecretFile {
  readonly name: string;
  readonly path: string;
  /** As the operator knows it: `NAME_FILE`, or the credential. */
  readonly source: string;
}

function namedFiles(variables: Variables): SecretFile[] {
  return Object.entries(variables).flatMap(([source, path]) => {
    if (!source.endsWith("_FILE") || !path || ofOthers.has(source)) return [];
    const name = source.slice(0, -"_FILE".length);
    return isSecretVariable(name) ? [{ name, path, source }] : [];
  });
}

/** systemd: `LoadCredential=OPENAI_API_KEY:/path`. Whoever gives a unit a credential of such a name means the variable. */
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

/** The bytes of a small file. @throws Error in words that follow its name, or of the system */
function readSmall(path: string): Buffer {
  // A pipe would keep the start waiting for its writer.
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

/** What a secret's file says, without the line end that editors leave. @throws UsageError, which never holds what is in it */
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
 * The variables with the secrets that stand in files, as if each were set itself.
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
