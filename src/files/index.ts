/** Files: their bytes, in a local directory or a bucket, and the table of their owners and expiries. */
export { adviceOnFiles, isOfBucket } from "./advice.ts";
export { countOpenFiles } from "./counted.ts";
export { FileDrafts, inputDrafts } from "./drafts.ts";
export { filesDirectory, openFileStore } from "./open.ts";
export {
  FileTooLargeError,
  isFileName,
  newFileName,
  type ByteRange,
  type FileStore,
  type OpenFile,
  type FileStoreOptions,
} from "./store.ts";
export {
  assignInputs,
  fileExpiries,
  findFile,
  recordFile,
  sweepFiles,
  type FileRow,
} from "./table.ts";
export { watchFiles, type WatchedFiles } from "./watched.ts";
export {
  createThumbnails,
  missingFile,
  thumbnailWidths,
  type ThumbnailWidth,
  type Thumbnails,
} from "./thumbnails.ts";
