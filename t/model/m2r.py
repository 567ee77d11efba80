# groups with keyed ranges: tmp file R=(0,3) all in one group, then a second put single (3,4)
from bfs import *
def spl(src,kind,goalname,rest,extra=()):
    h=('hold','a_split',goalname,src)
    r=yield('link',src,h)
    if r!='ok' and r!='EEXIST': return r
    if kind=='first': yield('mkdir','grp')
    r=yield('ren',src,rest,*extra)
    yield('ren',h,('new',goalname))
    return 'ok'
def bring(nx,mode):
    if nx is None: yield('rmdir','grp'); return
    lo,hi=nx
    if hi-lo==1 or mode=='whole': yield('ren',('grp',nx),('new',nx))
    else: yield from spl(('grp',nx),'next',(lo,lo+1),('grp',(lo+1,hi)))
def rec(v):
    hs=yield('ls','hold')
    hs=tuple(sorted(hs,key=lambda h:(h[1]=='a_split')!=(v['order']=='splits first')))
    for h in hs:
        if h[1]=='a_split':
            e=yield('stat',h[3])
            if e:
                if v['undo']=='held name first': yield('unl',h)
                if h[3][0]=='tmp': yield('rmdir','grp')
                if v['undo']=='held name last': yield('unl',h)
            else: yield('ren',h,('new',h[2]))
        elif h[1]=='first': yield('mkdir','grp'); yield('ren',h,('new',h[2]))
        else:
            e=True
            if h[3] is not None: e=yield('stat',('grp',h[3]))
            if e: yield from bring(h[3],v['mode'])
            yield('unl',h)
def PUT(R,v):
    yield('lock','q'); yield from rec(v)
    g=yield('stat',('D','grp')); G=frozenset([('put',R)])
    if g: yield('ren',('tmp',R),('grp',R),G)
    elif R[1]-R[0]==1:
        yield('ren',('tmp',R),('hold','first',R),G); yield('mkdir','grp'); yield('ren',('hold','first',R),('new',R))
    else:
        yield from spl(('tmp',R),'first',(R[0],R[0]+1),('grp',(R[0]+1,R[1])),(G,))
    yield('unlock','q')
def C(rounds,v):
    k=0
    while k<rounds:
        k+=1
        s=yield('ls','new')
        if not s: continue
        x=s[0]; s=None
        if x[1][1]-x[1][0]>1:   # take one from a range as in the split bullet
            yield('lock','q'); yield from rec(v)
            lo,hi=x[1]; c=('cur',(lo,lo+1))
            r=yield('ren',x,('new',(lo+1,hi)))
            if r=='ok': yield('set',frozenset(),frozenset([c]))
            yield('unlock','q')
        else:
            c=('cur',x[1]); r=yield('ren',x,c)
        x=None
        if r!='ok': continue
        a=yield('choose',('ack','ret','stall'))
        if a=='ret': yield('ren',c,('new',c[1]))
        if a=='ack':
            yield('lock','q'); yield from rec(v)
            w=yield('ls','grp'); nx=w[0][1] if w else None; w=None
            h=('hold','b_next',c[1],nx)
            r=yield('ren',c,h,frozenset([('ack',c[1])]))
            if r=='ok':
                yield from bring(nx,v['mode']); yield('unl',h)
            yield('unlock','q')
        c=r=a=nx=h=None
def FIN(v):
    yield('final',)
    yield('lock','q'); yield from rec(v)
    yield('ghost',frozenset(['end']))
    w=yield('ls','grp'); d=yield('stat',('D','grp')); a=yield('ls','new'); b=yield('ls','cur'); a=a+b
    h=yield('ls','hold')
    if h: yield('viol','hold left')
    if (w or d) and not a: yield('viol','stuck')
def inv(fs,gh):
    hd=[x for x in fs if x[0] in('new','cur')]
    if len(hd)>1: return 'two in flight: %s'%hd
    put=[m for g in gh if g!='end' and g[0]=='put' for m in range(*g[1])]
    ack={m for g in gh if g!='end' and g[0]=='ack' for m in range(*g[1])}
    cov={}
    for x in fs:
        if x[0] in('new','cur','grp'):
            for m in range(*x[1]):
                cov[m]=cov.get(m,0)+1
                if m in ack: return 'acked back: %s'%(x,)
                if cov[m]>1: return 'double: %s'%m
        elif x[0]=='hold' and x[1]!='b_next':
            for m in range(*x[2]): cov.setdefault(m,0)
    for m in put:
        if m not in ack and m not in cov: return 'lost: %s'%m
    for x in hd:
        for m in put:
            if x[1][0]<3 and m<x[1][0] and m not in ack and cov.get(m): return 'order: %s'%(x,)
if __name__=='__main__':
  S='split at bring-up, recovery '
  for nm,mode,order,undo in(('whole range brought up','whole','splits first','held name last'),(S+'removes the held name first','split','splits first','held name first'),(S+'splits first','split','splits first','held name last'),(S+'next first','split','next first','held name last')):
    class D(dict):
        __hash__=lambda s:hash(nm)
    v=D(mode=mode,order=order,undo=undo)
    run([(PUT,(0,3),v),(PUT,(3,4),v),(C,2,v),(C,1,v),(FIN,v)],frozenset([('tmp',(0,3)),('tmp',(3,4))]),2,inv=inv,mdirs=('grp',),name='2r '+nm,limit=1.5e6)
