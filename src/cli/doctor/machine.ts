/** Checks the machine: the data directory, the master key, the gateway's addresses. */
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { get as getSecure } from "node:https";
import { dirname, join } from "node:path";
import { TLSSocket } from "node:tls";
import { filesDirectory } from "../../files/index.ts";
import { possibleAddresses } from "../address.ts";
import { publicAddressProblem, type Environment } from "../environment.ts";
import { renewOwn } from "../certificate-watch.ts";
import { findCertificate } from "./certificate-days.ts";
import { failed, ok, warning, type Finding } from "./findings.ts";

const mebibyte = 1024 * 1024;
const freeFailedMax = 100 * mebibyte;
const freeWarnedMax = 1024 * mebibyte;
const freeInodesMin = 1_000;

/** Checks that the data directory, and the one of local files, can be written and have space. */
export function checkDirectory({ dataDir }: Environment): Finding {
  const own = checkVolume(dataDir);
  const files = filesDirectory(dataDir);
  if (own.status === "failed" || !existsSync(files)) return own;
  const found = checkVolume(files);
  return found.status === "ok" ? own : found;
}

function checkVolume(directory: string): Finding {
  const check = "data directory";
  let place = directory;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
  } catch (error) {
    const isReadOnly = error instanceof Error && "code" in error && error.code === "EROFS";
    const fix = isReadOnly
      ? "mount it so that it can be written; a fault of the disk makes it read-only too (`dmesg`)"
      : "run this as the gateway's user; or let this user write to it, or name another by TOLLGATE_DATA_DIR";
    return failed(check, `${place} cannot be written`, fix);
  }
  const { bavail, bsize, files, ffree } = statfsSync(place);
  const free = bavail * bsize;
  const message = `${directory}, ${Math.floor(free / mebibyte)} MB free`;
  const fix = "free some space, or move it by TOLLGATE_DATA_DIR";
  // Some file systems report no inode counts.
  if (files > 0 && ffree < freeInodesMin)
    return failed(
      check,
      `${directory}, ${ffree} inodes free`,
      "remove files, or move it by TOLLGATE_DATA_DIR",
    );
  if (free < freeFailedMax) return failed(check, message, fix);
  return free < freeWarnedMax ? warning(check, message, fix) : ok(check, message);
}

/** Checks where the master key comes from. The database's checks find out whether it is the right one. */
export function checkMasterKey({ masterKey, dataDir }: Environment, isUsed: boolean): Finding {
  const check = "master key";
  if (masterKey !== undefined) return ok(check, "from TOLLGATE_MASTER_KEY");
  const file = join(dataDir, "master-key");
  if (existsSync(file)) return ok(check, `from ${file}; keep a copy of it elsewhere`);
  if (!isUsed) return ok(check, "none yet: the first start makes it");
  const fix = "set TOLLGATE_MASTER_KEY, or put the file back: without it no key can be checked";
  return failed(check, `neither TOLLGATE_MASTER_KEY nor ${file} is there`, fix);
}

/** A gateway that is only busy answers within this time. */
const answerMsMax = 10_000;

/** Checks how callers reach the gateway, and whether it answers within `msMax`. */
export async function checkAddresses(
  environment: Environment,
  msMax = answerMsMax,
): Promise<Finding[]> {
  const { publicUrl } = environment;
  const addressProblem = publicAddressProblem(environment);
  const findings: Finding[] = [];
  if (addressProblem !== undefined) {
    const fix =
      publicUrl === undefined
        ? "set TOLLGATE_PUBLIC_URL to how callers reach the gateway, such as https://gateway.example.com"
        : "give it a host name or a port of its own";
    findings.push(warning("public address", addressProblem, fix));
  } else if (publicUrl === undefined)
    findings.push(
      ok("public address", "none: results have the address that the gateway listens on"),
    );
  else if (publicUrl.startsWith("https:")) findings.push(ok("public address", publicUrl));
  else {
    const fix = "use https, or keep it inside a network that you trust";
    findings.push(warning("public address", `${publicUrl} is not encrypted`, fix));
  }
  const states = await Promise.all(
    possibleAddresses(environment).map((url) => readiness(url, msMax)),
  );
  const known = states.find((state) => state !== undefined);
  findings.push(known ?? ok("gateway", "none runs here"));
  return findings;
}

interface Answered {
  readonly status: number | undefined;
  /** Expiry of the certificate that the gateway used; undefined without TLS. */
  readonly validTo: string | undefined;
}

const certificateEnd = ({ socket }: IncomingMessage): string | undefined =>
  socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;

/** Requests an address. The certificate is not verified: its name differs from this machine's, and the request contains no secret. */
function askAddress(url: string, msMax: number): Promise<Answered> {
  const options = { signal: AbortSignal.timeout(msMax) };
  return new Promise((resolve, reject) => {
    const answered = (answer: IncomingMessage): void => {
      const validTo = certificateEnd(answer);
      answer.resume();
      resolve({ status: answer.statusCode, validTo });
    };
    const request = url.startsWith("https:")
      ? getSecure(url, { ...options, agent: false, rejectUnauthorized: false }, answered)
      : get(url, options, answered);
    request.on("error", reject);
  });
}

/** The finding on the gateway at `url`; undefined if none is there. */
async function readiness(url: string, msMax: number): Promise<Finding | undefined> {
  const check = "gateway";
  try {
    const { status, validTo } = await askAddress(`${url}/readyz`, msMax);
    if (status !== 200)
      return failed(check, `${url} does not take calls (${status})`, "read its log");
    const message = `${url} takes calls`;
    if (validTo === undefined) return ok(check, message);
    return findCertificate({
      check,
      message: `${message} with a certificate`,
      validTo,
      renew: renewOwn,
    });
  } catch (error) {
    return unanswered(check, url, error);
  }
}

/** The finding on an address that gave no answer; undefined where nothing listens. */
function unanswered(check: string, url: string, error: unknown): Finding | undefined {
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === "AbortError")
    return failed(check, `${url} does not answer`, "read its log; if it hangs, restart it");
  // An error of TLS 1.3. The check of a port is all that `server.tls.client_ca` leaves.
  if (code?.endsWith("CERTIFICATE_REQUIRED"))
    return ok(check, `${url} takes connections, and calls only with a client certificate`);
  return undefined;
}
