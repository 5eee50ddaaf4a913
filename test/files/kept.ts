/** Records files that are kept in a gateway's own workspace. */
import { recordFile, type FileRow } from "../../src/files/index.ts";
import type { GatewayUnderTest } from "../support/gateway.ts";

const dayMs = 86_400_000;

/** Records a result, a video by default, that is kept for a day from `nowMs` on. */
export const recordResult = (
  { database, workspaceId }: Pick<GatewayUnderTest, "database" | "workspaceId">,
  row: Partial<FileRow> & Pick<FileRow, "name" | "bytes">,
  nowMs: number = Date.now(),
): Promise<void> =>
  recordFile(database, {
    workspaceId,
    taskId: null,
    purpose: "result",
    mediaType: "video/mp4",
    createdAt: new Date(nowMs),
    expiresAt: new Date(nowMs + dayMs),
    ...row,
  });
