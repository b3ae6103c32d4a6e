// A process that tries to take each folder it is told of, and says whether it has it; it ends with its parent.
const { takeOwnership } = await import('../../packages/redis/dist/server/ownership.js');

process.on('message', async (folder) => {
  const has = await takeOwnership(folder).then(
    () => true,
    () => false,
  );
  process.send({ folder, has });
});
process.on('disconnect', () => process.exit());
process.send('ready');
