import * as z from 'zod'
import { TABLE_KEYS } from '../../infra/tables.ts'
import { Timestamp, TransactionHash } from '../../lib/codecs.ts'
import { checkNodes } from '../check-nodes.ts'
import { type Commands, chain, columns, command, flag, optionHelp, text } from '../command.ts'
import { HIDDEN_SECONDS, MOST_LISTED } from '../dead-letters.ts'
import { FailedExamination, runDoctor } from '../doctor.ts'
import { dropDeadLetters, forgetTransfers } from '../operations/stage.ts'

/** Commands that inspect and repair a stage. */
export const STAGE_COMMANDS: Commands = {
  doctor: command(
    'Looks at all that the service rests on, and says what to do; ends with 1 where something FAILs. It changes nothing.',
    z.object({
      stages: text(1000)
        .optional()
        .register(optionHelp, { value: 'file', meaning: 'Your file of stages; stages.json unless given' }),
    }),
    (admin, { stages }) => runDoctor(admin, stages),
  ),

  'check-nodes': command(
    'Asks the nodes of the EVM chains what they take, and says what will not work with them. Solana is not asked.',
    z.object({ chain: chain.optional().register(optionHelp, { value: 'id', meaning: 'This chain alone' }) }),
    async ({ nodes }, { chain }) => {
      const lines = await checkNodes(nodes, chain === undefined ? undefined : [chain])
      if (lines.some((line) => line.trim().startsWith('FAIL'))) throw new FailedExamination(lines)
      return lines
    },
  ),

  'restore-items': command(
    'Puts back what a table has lost, from a table that AWS has restored to a moment before.',
    z.object({
      table: z
        .enum(TABLE_KEYS)
        .register(optionHelp, { value: 'word', meaning: `The table that lacks it: ${TABLE_KEYS}` }),
      from: text(255).register(optionHelp, { value: 'name', meaning: 'The name of the restored table' }),
      partition: text(2048)
        .optional()
        .register(optionHelp, { value: 'text', meaning: 'Partitions alone whose keys begin so, such as CLIENT#<id>' }),
      replace: flag('Also what is there and differs becomes what it was'),
      yes: flag('Do it; without it, what would come back is counted'),
    }),
    async (admin, { table, from, partition, replace, yes }) => {
      const wanted = { table, from, partition, isReplaced: replace, isConfirmed: yes }
      const { items, missing, different } = await admin.restoreItems(wanted)
      // The jobs find vaults by their chains, which are outside a client's partition.
      if (table === 'clients' && yes) await admin.clients.relistVaults()
      const [lacking, differing] = yes
        ? ['put back', replace ? 'replaced' : 'left as they are']
        : ['missing', 'different']
      return [
        `Of ${items} items of ${from}: ${missing} ${lacking}, ${different} ${differing}.`,
        ...(yes
          ? []
          : ['Nothing was written. With --yes what is missing comes back, and with --replace what differs.']),
      ]
    },
  ),

  'forget-transfer': command(
    'Forgets what is recorded of the transfers of a transaction, final ones too, so that the next question reads them again.',
    z.object({
      chain,
      tx: TransactionHash.register(optionHelp, { value: '0x…', meaning: 'The source transaction, or user operation' }),
    }),
    async (admin, { chain, tx }) => {
      await forgetTransfers(admin, { sourceChainId: chain, hash: tx })
      return [`The transfers of ${tx} on chain ${chain} are forgotten; the next question reads them again.`]
    },
  ),

  'list-dead-letters': command(
    `Lists the messages that functions could not work on, ${MOST_LISTED} of each queue; hides them for ${HIDDEN_SECONDS} seconds.`,
    z.object({}),
    async ({ deadLetters }) => {
      const listed = await deadLetters.list()
      const rows = listed.flatMap(({ queue, letters }) =>
        letters.map(({ sentAt, body }) => [queue, Timestamp.encode(sentAt), body]),
      )
      return [
        ...columns(['QUEUE', 'SENT', 'MESSAGE'], rows),
        '',
        ...listed.map(({ queue, count, letters }) => `Listed of ${queue}: ${letters.length}, of about ${count}.`),
      ]
    },
  ),

  'drop-dead-letters': command(
    'Deletes the messages of a queue that functions could not work on, which takes a minute. There is no way back.',
    z.object({
      queue: text(80).register(optionHelp, { value: 'name', meaning: 'The queue, as in list-dead-letters' }),
      yes: flag('Do it; without it, how many these are is shown'),
    }),
    async (admin, { queue, yes }) => [await dropDeadLetters(admin, { queue, isConfirmed: yes })],
  ),

  'redrive-dead-letters': command('Redrives the dead-letter queues.', z.object({}), async ({ deadLetters }) =>
    (await deadLetters.redrive()).map(
      ({ queue, moved, left, problem = 'done' }) =>
        `Messages of ${queue} that are worked on again: about ${moved}; left: about ${left}; ${problem}.`,
    ),
  ),
}
