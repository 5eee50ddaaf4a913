/** Reasons and fixes when files cannot be stored or read. docs/data.md "When files cannot be kept". */

const rights =
  "give the directory back to the user that the gateway runs as (chown -R, chmod u+rwX)";
const medium = "look at the disk: `dmesg` and its own checks say more";

/** Fixes, by the code of the system. */
const fixes: Readonly<Record<string, string>> = {
  ENOSPC: "free room: the disk is full (`df -h`), or has no inodes left (`df -i`)",
  EDQUOT: "free room, or raise the quota of this user",
  EROFS: "make it writable again: it is mounted read-only, often after a fault (`dmesg`)",
  EACCES: rights,
  EPERM: rights,
  ENOENT: "the directory is gone: mount its volume again, or make it",
  ENOTDIR: "something else has the directory's place: mount its volume again, or make it",
  ESTALE: "mount the network volume again",
  EIO: medium,
};

const bucketRights =
  "let its credentials use the bucket: s3:PutObject, GetObject, DeleteObject, AbortMultipartUpload, ListBucket";
const bucketKeys =
  "mend `access_key_id` and `secret_access_key`, which are read at the start; without them those of the machine count";
const renewed =
  "give new credentials and restart: those of variables and of the configuration are read at the start, those of a role renew themselves";
const otherRegion = "set `region` of `storage` to the bucket's own";
const serverTrouble =
  "look at the bucket's server or its provider's status: it is overloaded or does not work. Nothing else needs to be done";
const bucketRoom = "free room in the bucket, or raise its quota";

/** Fixes, by the code in the answer of a bucket's server, which the client uses as the error's name. */
const bucketFixes: Readonly<Record<string, string>> = {
  AccessDenied: bucketRights,
  AllAccessDisabled: bucketRights,
  InvalidAccessKeyId: bucketKeys,
  SignatureDoesNotMatch: bucketKeys,
  CredentialsProviderError: bucketKeys,
  ExpiredToken: renewed,
  InvalidToken: renewed,
  PermanentRedirect: otherRegion,
  AuthorizationHeaderMalformed: otherRegion,
  IllegalLocationConstraintException: otherRegion,
  NoSuchBucket: "make the bucket, or mend its name in `storage`",
  RequestTimeTooSkewed: "set this machine's clock by NTP: the bucket refuses another time",
  QuotaExceeded: bucketRoom,
  XMinioStorageFull: bucketRoom,
};

/** Fixes by status, if the code has none. */
const statusFixes: Readonly<Record<number, string>> = {
  301: otherRegion,
  307: otherRegion,
  401: bucketKeys,
  403: bucketRights,
  429: serverTrouble,
  507: bucketRoom,
};

/** The answer of a bucket's server. Not the client's class: without a bucket the client is not loaded. */
interface BucketAnswer extends Error {
  readonly $metadata: { readonly httpStatusCode?: number };
  /** The bucket's region, if the server names it. */
  readonly Region?: unknown;
}

const isBucketAnswer = (error: Error): error is BucketAnswer => "$metadata" in error;

/** True for errors of a bucket's client: its server's answers, its connections and its credentials. */
export const isOfBucket = (error: unknown): boolean =>
  error instanceof Error && (isBucketAnswer(error) || error.name === "CredentialsProviderError");

function adviceOnBucket(error: BucketAnswer): Advice | undefined {
  const status = error.$metadata.httpStatusCode;
  if (status === undefined) return undefined;
  const isNamed = error.name !== "Unknown" && error.name !== "Error";
  const reason = isNamed
    ? `${status} ${error.name}: ${error.message}`
    : `${status}, and no error of S3: something else may answer at this address`;
  const fix = bucketFixes[error.name] ?? statusFixes[status];
  if (fix === otherRegion && typeof error.Region === "string")
    return { reason, fix: `${fix}, ${error.Region}` };
  return { reason, fix: fix ?? (status >= 500 ? serverTrouble : generalFix) };
}

const generalFix = "check that it can be reached, and `storage` of the configuration";

/** The meaning of an error, and its fix. */
interface Advice {
  readonly reason: string;
  readonly fix: string;
}

function adviceOnStorage(error: unknown): Advice {
  if (!(error instanceof Error)) return { reason: String(error), fix: generalFix };
  const ofBucket = isBucketAnswer(error) ? adviceOnBucket(error) : undefined;
  if (ofBucket !== undefined) return ofBucket;
  const code = "code" in error ? String(error.code) : error.name;
  return { reason: error.message, fix: fixes[code] ?? bucketFixes[code] ?? generalFix };
}

/** Returns the meaning of a store error, and its fix; `setting` is the part of the configuration that names the store. */
export function adviceOnFiles(error: unknown, setting: "storage" | "exports" = "storage"): Advice {
  const { reason, fix } = adviceOnStorage(error);
  return { reason, fix: fix.replace("`storage`", `\`${setting}\``) };
}
