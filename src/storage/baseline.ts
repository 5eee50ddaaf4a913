/**
 * The baseline: the schema after the first 42 migrations, written for readers in ./baseline, one subject a file. A database has it when its
 * `schema_migrations` records all 42. Either their files made the schema one by one, or the baseline made it at once and recorded them.
 * Every version that knows these migrations runs on both.
 */
import { readdirSync, readFileSync } from "node:fs";
import { ownFile } from "../base/own-files.ts";

const directory = ownFile("src/storage/baseline/");

/** The last commit that has the 42 files, and so can bring an older database to the baseline. */
const lastWithFiles = "d22029b";

/** The name that `migrate` returns if it applied the baseline. */
export const baselineName = "baseline";

/** A migration as recorded: the name of its file, and the SHA-256 of its text. */
export interface Recorded {
  readonly name: string;
  readonly checksum: string;
}

/** The migrations that the baseline replaces. */
export const replaced: readonly Recorded[] = Object.entries({
  "0001_tenancy.sql": "b4aeeae58f3b6e32453f67e9bd57e57fad48eb2c41192568d0fd172294c2e1d9",
  "0002_ledger.sql": "463a11f0a7d9608be97b3b839f4b09120ca482e37c77aa65de2b420eac21c33c",
  "0003_ledger_resolution.sql": "81e3d15e5c036318eaa7deb58031679443b87c20f7372682d947f4f3586b7831",
  "0004_key_rotation.sql": "8a9c6116b2571d6dd723dba2fa9690cc7e00535118674efe3e74930d39953cc2",
  "0005_charge_expired.sql": "a014b11d963cd46d009f851d7258d819104516787c84c53cb2ea8af0bf3c5074",
  "0006_request_log_json.sql": "4e410230d92c48df645b922e2f680c2f43b5757c9437b4e0ef07646631ebe232",
  "0007_pooled_holds.sql": "f6a99fc12e25728041ba56e23056751b015c5672817c8e1b8d65f5dc42c9f8fc",
  "0008_tasks.sql": "ed5b68306aeb9fecf9986dce4292e70273cb1628cb3933d971cf344fbd7e4415",
  "0009_callbacks.sql": "888ee3bd35e896118cc5e8298fd1e924eb992eb51adab06d7bf485ae010e74c8",
  "0010_image_calls.sql": "0cafdea0244123a6b0a388501355acfa743c2edc0c33bc27958754fc12232ef0",
  "0011_admin.sql": "d7b5d9075a05e44a72991fcf92933c362f4448b22c820e4c2c708094e7a675f2",
  "0012_sessions.sql": "893e106d05aa847c34e8170376dc7cbd782e6137bb1f3d6dac2e60ab6f869ca9",
  "0013_spend_alerts.sql": "510f919afe900d45e6dc01a57ba235350a6c1af796a29c9495be9668d569a926",
  "0014_usage.sql": "58154bd13e2ad3bcdc970f85fc74c980f060d4b111dd405f8dcf211a3471c163",
  "0015_request_heads.sql": "05317a9e3f9f14d5c3c6453f4415656a419641dea4e38048bac10edf309e7da6",
  "0016_ledger_pool_turn.sql": "e692341fc31d9b0e719bfb79d201db96d2a7daa8213b5262fea79094a8e6786d",
  "0017_ledger_without_spares.sql":
    "40948fb10c9fc9aee42b8da56b0cec7c588f300aef2e60250393733036b1b577",
  "0018_ledger_take_back.sql": "809e42dd1c69efa4e019b5549f657779131a95d594ae59277078738752a679ff",
  "0019_invitations.sql": "41bf0f936aaee6d2e2a046b635238e18cfc70ebc0baacd340c658cfdcb3b36a4",
  "0020_key_bounds.sql": "f3034f5d53a38a49260e9f6f7b4b180ebcdf4381e421d1cc3d491321a20eef8f",
  "0021_ledger.sql": "f2f167657e877461ed9b0fa4574d0e966699f69e7810a5c7c69300882705e3e7",
  "0022_ledger_rules.sql": "6e37c4296ce5b35f7e65371791658199a7dc2f0929a05a7f3f0524c864baa2fd",
  "0023_ledger_refused.sql": "d3909e0ed4bc141fb0499bfaeb35106f638aafde72af77d6a052f23a001a31fa",
  "0024_catalog_lists.sql": "298799f2102bd5ba46a5374c8f02c19a6e1328b493d41bca39c53631e9f9a67b",
  "0025_providers.sql": "99625480668142d676efbec30e2b85773dd9ae7b8dbaf33fc451b94bc3ef62b3",
  "0026_usage_rollups.sql": "2963155532c456991c8c6606a6be13e1cc6463e642f233f39bc49098d948a15f",
  "0027_request_errors.sql": "442a02efb42a6d3b2b08e457a2fc5d63a7ce7ccf6f9ead158469765657dfbc23",
  "0028_ledger_kept.sql": "ff75c06b0f517229a8fdd620d41acf9388ce829b8ad64b1c55dffaebb8d415a8",
  "0029_rate_limits.sql": "d2f6e1f9d6f39516f4962ddd7d450f116180b0acfa4d3f6ed6af94c9e738241a",
  "0030_verification.sql": "c3ebeb188acfac2fb45de8ed25c2a3ae3d1dfb7ecbb7e370b19c7c282dfc87da",
  "0031_written.sql": "ba55a1142a35bdd964ec3ec7341e3d75fc80422c2b177183fdec2aac1782307a",
  "0032_gateways.sql": "e7acc4801a2d2db2e1d487bcc0f1b8a05109d09e6dfaa5b3e7ca0025f8781809",
  "0033_health_states.sql": "514605562009ac3c8f1e342326de867d3c11455d9d07acb988b955794dd6228d",
  "0034_request_days.sql": "c42bc22d75b80b9bcf248e4335d61acac55b600977e4f047cc81dbca055c8327",
  "0035_password_resets.sql": "c6475f17516fefa287f25502a9b13c0a00255257c6f008bf2a007d877d028c74",
  "0035_retention.sql": "4ec1091015b834ef260b88fd82e95c67b4eff2ae942dd1d9cf43bae68fef1afb",
  "0036_key_clients.sql": "0b049fc4bd47cae70799e86c54072fd4babb25fd0d4f0108f1d70730fc4d4821",
  "0037_alert_thresholds.sql": "cce1a20b02c414449b5d74a2bd80365695b9b81c83039a291421ad00de17492f",
  "0038_removed_members.sql": "879b7ac73a4c3f4c8dde46d009e4abf62d1dfa2b246764b50b25f58c2b62ebd8",
  "0039_request_bodies.sql": "4e85952a16ccd0425b77c1739c8a2c8a9218c2c19ef7308803936439a4dbd6a1",
  "0040_thumbnails.sql": "8ee2f0870510a2dc748262df8bb03b8d513761b7df1b821976ae3aaf6ca7ed97",
  "0041_request_tags.sql": "6ac007e133edb22c9ef942f58c8d0fd868cf4aca4e433511857417d2088329a6",
}).map(([name, checksum]) => ({ name, checksum }));

/** Reads SQL with LF line ends, because a checkout may have changed them. */
export const readSql = (file: URL): string => readFileSync(file, "utf8").replaceAll("\r\n", "\n");

/** Returns the baseline's SQL texts, in the order in which they are applied. */
export function readBaseline(): string[] {
  const names = readdirSync(directory).filter((name) => /^\d{2}_[a-z0-9_]+\.sql$/.test(name));
  return names.sort().map((name) => readSql(new URL(name, directory)));
}

/** How much of the baseline the recorded migrations cover: none without a schema, a part in a database that is too old. */
export type BaselineState = "none" | "part" | "whole";

/** @param recorded the names of migrations recorded in a database or a backup */
export function baselineState(recorded: ReadonlySet<string>): BaselineState {
  if (replaced.every(({ name }) => recorded.has(name))) return "whole";
  return recorded.size === 0 ? "none" : "part";
}

/** Returns the migrations that an older schema lacks, and the commit that can apply them. */
export function olderSchema(recorded: ReadonlySet<string>): {
  readonly lacks: string;
  readonly commit: string;
} {
  const [first, ...more] = replaced.filter(({ name }) => !recorded.has(name));
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return { lacks: `${first?.name ?? "nothing"}${others}`, commit: lastWithFiles };
}
