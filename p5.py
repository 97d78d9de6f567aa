import sys; sys.path.insert(0,"/tmp/corr")
from attack2 import *
np.set_printoptions(precision=5,linewidth=160)
M=Mech(61029); s=M.s; rng=np.random.default_rng(61029+10**6)
a0=mbd.assemble(s); st=a0.state
# replicate start
m=s.compile(check_pose=False); st0=m.state(); far=rng.choice([.05,.3,1.0,3.0]); r=st0.r
for k in range(1,len(r)): w=unit(rng)*rng.uniform(0,1); rng.uniform(-1,1,3)
v=st0.v.copy(); o=st0.omega_bar.copy(); v[1:]=rng.normal(size=v[1:].shape); o[1:]=rng.normal(size=o[1:].shape)
start=st.replace(v=v,omega_bar=o)
R=mbd.simulate(s,.05,rtol=1e-8,atol=1e-10,state=start,project_velocity=True); print(np.abs(R.omega_bar).max(),np.abs(R.v).max(),len(R.t))
M=Mech(61187); s=M.s; rng=np.random.default_rng(61187+10**6)
a0=mbd.assemble(s); st=a0.state
m=s.compile(check_pose=False); st0=m.state(); far=rng.choice([.05,.3,1.0,3.0]); r=st0.r
for k in range(1,len(r)): w=unit(rng)*rng.uniform(0,1); rng.uniform(-1,1,3)
v=st0.v.copy(); o=st0.omega_bar.copy(); v[1:]=rng.normal(size=v[1:].shape); o[1:]=rng.normal(size=o[1:].shape)
start=st.replace(v=v,omega_bar=o)
for T in (.13,.1349,.134939,.134940,.13494009):
    try:
        R=mbd.simulate(s,T,rtol=1e-8,atol=1e-10,state=start,project_velocity=True); print(T,R.joint("TJ1").rate[[0,-2,-1]],R.joint("TJ1").acceleration[[-2,-1]],np.linalg.norm(R.reaction("TJ1").force[-3:],axis=1),np.linalg.norm(R.reaction("TJ1").torque[-3:],axis=1),R.events[-3:],np.abs(R.omega_bar[-1]).max(),len(R.t),R.warnings)
    except mbd.HaugmbdError as e: print(T,str(e)[:300])
print(s.loads[0])
R=mbd.simulate(s,.3,h=1e-3,state=start,project_velocity=True); print(R.events, R.status, R.warnings)
print(np.c_[R.t,R.joint("TJ1").rate,np.linalg.norm(R.reaction("TJ1").force,axis=1)][125:145])
