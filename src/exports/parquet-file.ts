/**
 * Writes a Parquet file incrementally: rows come in, and bytes leave with each row group. Memory holds the current group, and the
 * footer data of each finished group.
 */
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { gzipSync } from "node:zlib";
import { columns, type Cell, type Column, type ParsedLine } from "./columns.ts";
import type { ExportKind } from "./lines.ts";

/** A row group ends at this many rows, or this many characters of text. */
const groupRows = 10_000;
const groupCharacters = 8 * 1024 * 1024;

export class ParquetFile {
  readonly #columns: readonly Column[];
  readonly #bytes = new ByteWriter();
  readonly #file: ParquetWriter;
  /** Cells of the current group, by column. */
  #cells: Cell[][];
  #characters = 0;

  constructor(kind: ExportKind) {
    this.#columns = columns[kind];
    this.#cells = this.#columns.map(() => []);
    const root = { name: kind, num_children: this.#columns.length };
    this.#file = new ParquetWriter({
      writer: this.#bytes,
      schema: [root, ...this.#columns.map(({ element }) => element)],
      codec: "GZIP",
      compressors: { GZIP: (page) => gzipSync(page) },
      createdBy: "tollgate",
    });
  }

  /** Adds lines. @returns the bytes written since the last call; often none */
  add(lines: readonly ParsedLine[]): Uint8Array<ArrayBuffer> {
    for (const [place, { cell }] of this.#columns.entries()) {
      const cells = this.#cells[place]!;
      for (const line of lines) {
        const value = cell(line);
        if (typeof value === "string") this.#characters += value.length;
        cells.push(value);
      }
    }
    if (this.#cells[0]!.length >= groupRows || this.#characters >= groupCharacters)
      this.#endGroup();
    return this.#take();
  }

  /** Ends the file. @returns its last bytes */
  end(): Uint8Array<ArrayBuffer> {
    if (this.#cells[0]!.length > 0) this.#endGroup();
    void this.#file.finish();
    return this.#take();
  }

  #endGroup(): void {
    const rowGroupSize = this.#cells[0]!.length;
    const columnData = this.#columns.map(({ name, statistics }, place) => ({
      name,
      statistics,
      data: this.#cells[place]!,
      offsetIndex: false,
    }));
    // Completes synchronously, because the writer writes to memory.
    void this.#file.write({ columnData, rowGroupSize });
    this.#cells = this.#columns.map(() => []);
    this.#characters = 0;
  }

  #take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes.getBytes().slice();
    // Reuses the buffer from its start; `offset` still counts positions in the file.
    this.#bytes.index = 0;
    return bytes;
  }
}
