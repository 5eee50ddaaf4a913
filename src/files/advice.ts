/** What helps where files cannot be kept or read. docs/operate.md "When files cannot be kept". */

const rights =
  "give the directory back to the user that the gateway runs as (chown -R, chmod u+rwX)";
const medium = "look at the disk: `dmesg` and its own checks say more";

/** By the code of the system. */
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

/** What an error of the store means, and what helps. */
export function adviceOnFiles(error: unknown): { readonly reason: string; readonly fix: string } {
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const fix = fixes[code] ?? "check that it can be reached, and `storage` of the configuration";
  return { reason, fix };
}
