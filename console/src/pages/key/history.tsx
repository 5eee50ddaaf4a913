/** The latest changes of a key, with a link to all of them. */
import { Skeleton, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { AuditEntries } from "../../ui/audit-entries.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useHistory, type Key } from "./queries.ts";

export function History({ apiKey: { id } }: { apiKey: Key }) {
  const { data, error, refetch } = useHistory(id);
  if (error !== null) return <RegionError what="history" error={error} retry={refetch} />;
  if (data === undefined) return <Skeleton height={160} />;
  return (
    <>
      <AuditEntries entries={data.data} />
      {data.has_more && (
        <Text mt="sm">
          These are the last {data.data.length} changes.{" "}
          <Link to="/settings/audit" search={({ ws }) => ({ ws, subject: id })}>
            All changes of this key
          </Link>
        </Text>
      )}
    </>
  );
}
