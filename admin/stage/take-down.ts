import { EDGE_REGION, identitySecretName, type Stage, signingSecretName } from '../../infra/environments.ts'
import { stackNames } from '../../infra/functions.ts'
import { TABLE_KEYS, tableName } from '../../infra/tables.ts'
import { AdminError } from '../admin.ts'
import { removeStack, waitForSettledStacks } from './aws-account.ts'
import { explainError } from './aws-failure.ts'
import type { UpServices } from './bring-up.ts'
import { sortForRemoval } from './stacks.ts'

type DownEnvironment = Pick<UpServices, 'accountIn' | 'say' | 'sleep'> & {
  /** Asks the operator on the terminal and returns the typed text. */
  readonly ask: (question: string) => Promise<string>
}

/**
 * Deletes the stacks of a stage, dependent ones first. CDK's bootstrap stack and retained resources stay. Throws an AdminError if the stage
 * does not exist, or the operator does not type its name. Also throws if the stage is protected and the operator does not force the
 * deletion.
 */
export async function takeDownStage(
  stage: Stage,
  { isForced }: { readonly isForced: boolean },
  environment: DownEnvironment,
): Promise<void> {
  await removeStage(stage, isForced, environment).catch((error: unknown) => {
    throw explainError(error)
  })
}

async function removeStage(stage: Stage, isForced: boolean, environment: DownEnvironment): Promise<void> {
  const { accountIn, ask, say } = environment
  const own = accountIn()
  const { account, region } = await own.identify()
  const places = region === EDGE_REGION ? [own] : [own, accountIn(EDGE_REGION)]
  const stacksByRegion = await Promise.all(
    places.map(async (place) => {
      const stacks = await waitForSettledStacks(place, stackNames(stage), environment)
      return stacks.map((stack) => ({ ...stack, place }))
    }),
  )
  const stacks = stacksByRegion.flat()
  if (stacks.length === 0) throw new AdminError(`Account ${account} has no stage ${stage} in ${region}.`)
  const isRetained = stacks.some(({ isProtected }) => isProtected)
  const remains = [
    'These stay, with all data, and cost what they store:',
    `- tables: ${TABLE_KEYS.map((table) => tableName(stage, table)).join(', ')}`,
    `- secrets, as ${signingSecretName(stage)} and ${identitySecretName(stage)}, the queues and the logs`,
    'A new stage of this name finds their names taken. docs/operate/stages.md says which can be imported.',
  ]
  if (isRetained && !isForced) {
    throw new AdminError([`Stage ${stage} is protected. With --force its stacks go.`, ...remains].join('\n'))
  }
  const question = [
    `This deletes ${stacks.length} stacks of ${stage} in account ${account}, ${region}, and its API.`,
    ...(isRetained ? remains : ['All its data goes: users, clients, keys, records. There is no way back.']),
    `Type ${stage} to go on`,
  ].join('\n')
  if ((await ask(question)).trim() !== stage) throw new AdminError('Nothing was deleted.')
  for (const stack of sortForRemoval(stacks)) {
    say(`${stack.name} …`)
    await removeStack(stack.place, stack, environment)
    say(`ok    ${stack.name} is deleted`)
  }
  say(`Stage ${stage} is gone. CDK's bootstrap stays for other stages.`)
}
