/** The interface of everything that runs SQL. docs/architecture.md. */

/** How a statement is prepared; see {@link Queryable.query}. */
export interface QueryOptions {
  readonly name?: string;
}

/** Runs SQL: the pool, or one open transaction. */
export interface Queryable {
  /**
   * Runs one statement. Parameters are bound ($1, $2, ...). int8 comes back as bigint, timestamptz as Date,
   * jsonb parsed, date and numeric as text. A jsonb parameter is passed as JSON text.
   * `name` prepares the statement under that name on its connection.
   * Without parameters the text may hold several statements; the last one's rows are returned.
   */
  query<Row extends object>(
    sql: string,
    params?: readonly unknown[],
    options?: QueryOptions,
  ): Promise<Row[]>;
}
