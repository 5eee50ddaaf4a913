/** Who did what with a key. */
import { AuditEntries } from "../../ui/audit-entries.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useHistory, type Key } from "./queries.ts";

export function History({ apiKey }: { apiKey: Key }) {
  const { data, error, refetch } = useHistory(apiKey.id);
  if (error !== null) return <RegionError what="history" error={error} retry={refetch} />;
  return data === undefined ? null : <AuditEntries entries={data.data} />;
}
