/** The percentages of a spend cap at which a workspace is alerted; undefined until known. */
import { api } from "../api/client.ts";

export function useThresholds(workspaceId: string): readonly number[] | undefined {
  const { data } = api.useQuery("get", "/admin/v1/workspaces/{id}", {
    params: { path: { id: workspaceId } },
  });
  return data?.alert_thresholds;
}
