import { describeFailure, runCommandLine } from './command-line.ts'
import { connectLocal, connectStage } from './connect.ts'
import { FailedExamination } from './doctor.ts'

try {
  const lines = await runCommandLine(process.argv.slice(2), async (stage) =>
    stage ? connectStage(stage) : await connectLocal('.local/state.json'),
  )
  process.stdout.write(`${lines.join('\n')}\n`)
} catch (error) {
  const stream = error instanceof FailedExamination ? process.stdout : process.stderr
  stream.write(`${describeFailure(error)}\n`)
  process.exitCode = 1
}
