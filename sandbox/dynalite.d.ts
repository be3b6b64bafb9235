declare module 'dynalite' {
  import type { Server } from 'node:http'

  /** A DynamoDB server that is not yet listening; in memory unless given a path. Times in milliseconds. */
  function dynalite(options?: { path?: string; createTableMs?: number }): Server
  export = dynalite
}
