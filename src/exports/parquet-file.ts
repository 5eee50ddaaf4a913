/**
 * A Parquet file as it is written: rows come in, and bytes leave with each row group. What stays in memory is the group under way, and of
 * each group that is over what the footer says of it.
 */
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { gzipSync } from "node:zlib";
import { columns, type Cell, type Column, type ParsedLine } from "./columns.ts";
import type { ExportKind } from "./lines.ts";

/** A row group is over with so many rows, or characters of text. */
const groupRows = 10_000;
const groupCharacters = 8 * 1024 * 1024;

export class ParquetFile {
  readonly #columns: readonly Column[];
  readonly #bytes = new ByteWriter();
  readonly #file: ParquetWriter;
  /** Of the group under way, by column. */
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

  /** Takes lines. @returns the bytes that are written by now and not given out yet; often none */
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
    // At once, because the writer is one in memory.
    void this.#file.write({ columnData, rowGroupSize });
    this.#cells = this.#columns.map(() => []);
    this.#characters = 0;
  }

  #take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes.getBytes().slice();
    // Begins its buffer anew; positions in the file go on by `offset`.
    this.#bytes.index = 0;
    return bytes;
  }
}
