import * as z from 'zod'
import { TABLE_KEYS } from '../../infra/tables.ts'
import { Timestamp, TransactionHash } from '../../lib/core/codecs.ts'
import { checkNodes } from '../check-nodes.ts'
import {
  buildCommand,
  buildFlagSchema,
  buildTextSchema,
  type Commands,
  chain,
  formatColumns,
  optionHelp,
} from '../command.ts'
import { HIDDEN_SECONDS, MAX_LISTED } from '../dead-letters.ts'
import { FailedExamination, runDoctor } from '../doctor.ts'
import { dropDeadLetters, forgetTransfers } from '../operations/stage.ts'

/** Commands that inspect and repair a stage. */
export const STAGE_COMMANDS: Commands = {
  doctor: buildCommand(
    'Checks everything that the service depends on, and prints remedies. Ends with 1 if a check FAILs. Changes nothing.',
    z.object({
      stages: buildTextSchema(1000)
        .optional()
        .register(optionHelp, { value: 'file', meaning: 'Your file of stages; stages.json unless given' }),
    }),
    (admin, { stages }) => runDoctor(admin, stages),
  ),

  'check-nodes': buildCommand(
    'Tests the capabilities of the nodes of EVM chains, and prints what will not work with them. Does not test Solana.',
    z.object({ chain: chain.optional().register(optionHelp, { value: 'id', meaning: 'Only this chain' }) }),
    async ({ nodes }, { chain }) => {
      const lines = await checkNodes(nodes, chain === undefined ? undefined : [chain])
      if (lines.some((line) => line.trim().startsWith('FAIL'))) throw new FailedExamination(lines)
      return lines
    },
  ),

  'restore-items': buildCommand(
    'Restores lost items of a table from a copy that AWS restored to an earlier time.',
    z.object({
      table: z
        .enum(TABLE_KEYS)
        .register(optionHelp, { value: 'word', meaning: `The table with lost items: ${TABLE_KEYS}` }),
      from: buildTextSchema(255).register(optionHelp, { value: 'name', meaning: 'The name of the restored table' }),
      partition: buildTextSchema(2048)
        .optional()
        .register(optionHelp, { value: 'text', meaning: 'Only partitions with this prefix, such as CLIENT#<id>' }),
      replace: buildFlagSchema('Also overwrite items that differ'),
      yes: buildFlagSchema('Do it; without it, only counts the items'),
    }),
    async (admin, { table, from, partition, replace, yes }) => {
      const wanted = { table, from, partition, isReplaced: replace, isConfirmed: yes }
      const { items, missing, different } = await admin.restoreItems(wanted)
      // Jobs find vaults in one list for each chain. A client's partition does not contain these lists, so they are
      // written again after a restore.
      if (table === 'clients' && yes) await admin.clients.relistVaults()
      const [lacking, differing] = yes
        ? ['put back', replace ? 'replaced' : 'left as they are']
        : ['missing', 'different']
      return [
        `Of ${items} items of ${from}: ${missing} ${lacking}, ${different} ${differing}.`,
        ...(yes
          ? []
          : ['Nothing was written. --yes restores missing items; with --replace it overwrites different ones.']),
      ]
    },
  ),

  'forget-transfer': buildCommand(
    'Deletes the records of the transfers of a transaction, also final ones. The next request reads them again.',
    z.object({
      chain,
      tx: TransactionHash.register(optionHelp, { value: '0x…', meaning: 'The source transaction, or user operation' }),
    }),
    async (admin, { chain, tx }) => {
      await forgetTransfers(admin, { sourceChainId: chain, hash: tx })
      return [`The transfers of ${tx} on chain ${chain} are deleted; the next request reads them again.`]
    },
  ),

  'list-dead-letters': buildCommand(
    `Lists the dead letters, ${MAX_LISTED} of each queue. Hides them for ${HIDDEN_SECONDS} seconds.`,
    z.object({}),
    async ({ deadLetters }) => {
      const listed = await deadLetters.list()
      const rows = listed.flatMap(({ queue, letters }) =>
        letters.map(({ sentAt, body }) => [queue, Timestamp.encode(sentAt), body]),
      )
      return [
        ...formatColumns(['QUEUE', 'SENT', 'MESSAGE'], rows),
        '',
        ...listed.map(({ queue, count, letters }) => `Listed of ${queue}: ${letters.length}, of about ${count}.`),
      ]
    },
  ),

  'drop-dead-letters': buildCommand(
    'Deletes the dead letters of a queue, which takes a minute. You cannot undo this.',
    z.object({
      queue: buildTextSchema(80).register(optionHelp, { value: 'name', meaning: 'The queue, as in list-dead-letters' }),
      yes: buildFlagSchema('Do it; without it, only shows their number'),
    }),
    async (admin, { queue, yes }) => [await dropDeadLetters(admin, { queue, isConfirmed: yes })],
  ),

  'redrive-dead-letters': buildCommand('Redrives the dead-letter queues.', z.object({}), async ({ deadLetters }) =>
    (await deadLetters.redrive()).map(
      ({ queue, moved, left, problem = 'done' }) =>
        `Messages of ${queue} that are worked on again: about ${moved}; left: about ${left}; ${problem}.`,
    ),
  ),
}
