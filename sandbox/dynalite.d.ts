declare module 'dynalite' {
  import type { Server } from 'node:http'

  /** Returns a DynamoDB server that does not listen yet; in memory unless given a path. Times are in milliseconds. */
  function dynalite(options?: { path?: string; createTableMs?: number }): Server
  export = dynalite
}

declare module 'dynalite/db/index.js' {
  /** Object through which dynalite's actions call these functions. */
  const db: {
    /** Returns an item's size in bytes, but counts each character of a text as one. */
    itemSize: (item: object) => number
    /** The original `itemSize`, once another function replaces it. */
    sizeInCharacters?: (item: object) => number
  }
  export = db
}
